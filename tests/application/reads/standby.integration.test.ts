import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { readSettings } from '#platform/settings.ts';
import { on } from '#tests/dsl/api.ts';
import { type FaultProxy, proxied } from '#tests/faults/fault-proxy.ts';
import { notesOf } from '#tests/operations/fixtures/boards.ts';
import { type ApiStack, type Key, openApiStack } from '#tests/operations/fixtures/stack.ts';
import { judge } from '#tests/trials/judge.ts';
import { type ReplicatedPostgres, startReplicatedPostgres } from './replicated-postgres.ts';

/** `npm run trials` tries more pairs. */

/** The short form plays two faults of the network only. */
const PAIRS_SHORT = 30;
const { REPLICA_PAIRS: pairs, REPLICA_REVOCATIONS: revocations } = readSettings(
  z.object({
    REPLICA_PAIRS: z.coerce.number().default(PAIRS_SHORT),
    REPLICA_REVOCATIONS: z.coerce.number().default(5),
  }),
);
/** Limit of a wait, however busy the machine is. */
const PATIENCE_MS = 60_000;
const LIMIT_MS = 3_600_000;
/** Callers at the same time: one alone would take a quarter of an hour for the long form. */
const CALLERS = 8;
const DATABASE = 'ad_intelligence';
const READS = 50;
const ROUNDS = 4;

let postgres: ReplicatedPostgres;
let stack: ApiStack;
let app: FastifyInstance;
let readsOfStandby = 0;
let proxy: FaultProxy;
let standbyPool: ReturnType<typeof openPool>;
let standbyReads: ReadDatabase;
const resources = new AsyncDisposableStack();

const counted = (db: ReadDatabase): ReadDatabase => ({
  query: async (statement) => {
    const rows = await db.query<never>(statement);
    readsOfStandby += 1;
    return rows;
  },
  slow: (statement) => db.slow(statement),
});

const pauseReplay = () => standbyPool.query('select pg_wal_replay_pause()');

const resumedState = async (): Promise<string | undefined> => {
  await standbyPool.query('select pg_wal_replay_resume()');
  const { rows } = await standbyPool.query<{ state: string }>(
    'select pg_get_wal_replay_pause_state() as state',
  );
  return rows[0]?.state;
};

/** Resumes the replay, which may cancel this very statement: no statement delays changes that conflict. */
const resumeReplay = async (): Promise<void> => {
  await expect.poll(resumedState, { timeout: PATIENCE_MS }).toBe('not paused');
};

const isBrandReadFromStandby = async (key: { text: string }): Promise<boolean> => {
  // The standby's position is read four times a second, so one read alone would prove nothing.
  const [before, reads] = [readsOfStandby, 20];
  for (let read = 0; read < reads; read += 1) {
    expect((await on(app).get('/v1/brands/alpha', { key })).status).toBe(200);
  }
  return readsOfStandby - before >= reads;
};

beforeAll(async () => {
  postgres = resources.use(await startReplicatedPostgres());
  await postgres.primary.createDatabase(DATABASE);
  stack = resources.use(
    await openApiStack({ url: postgres.primary.databaseUrl(DATABASE), drop: () => Promise.resolve() }),
  );
  await stack.seed(['alpha']);
  const url = postgres.standby.databaseUrl(DATABASE);
  const through = await proxied(url);
  proxy = resources.use(through.proxy);
  const replica = resources.use(openReadDatabase(through.url, { answerMs: 1_000 }));
  standbyReads = replica;
  standbyPool = openPool(url, 2);
  resources.defer(() => standbyPool.end());
  app = await stack.api({ standby: counted(replica), requestsPerMinute: 1_000_000 });
}, LIMIT_MS);
afterAll(() => resources.disposeAsync());

test('reads go to the standby', { timeout: LIMIT_MS }, async () => {
  const key = await stack.key();
  await expect.poll(() => isBrandReadFromStandby(key), { timeout: PATIENCE_MS }).toBe(true);
});

test('reads succeed while the standby is silent, slow or gone, or loses its connections, and go to it afterwards', {
  timeout: LIMIT_MS,
}, async () => {
  const key = await stack.key();
  const isUsed = (): Promise<boolean> => isBrandReadFromStandby(key);
  const faults: Readonly<Record<string, () => void>> = {
    mute: () => proxy.set('mute'),
    'one-way': () => proxy.set('one-way'),
    slow: () => proxy.set('slow', 2_000),
    cut: () => proxy.set('cut'),
    'half open': () => proxy.halfOpen(),
    reset: () => proxy.reset(true),
  };
  const played = pairs > PAIRS_SHORT ? Object.keys(faults) : ['mute', 'reset'];
  for (const fault of played) {
    faults[fault]?.();
    const reads = Array.from({ length: 10 }, () => on(app).get('/v1/brands/alpha', { key }));
    for (const { status } of await Promise.all(reads)) expect([fault, status]).toEqual([fault, 200]);
    proxy.set('pass');
    proxy.endFaults();
    await expect.poll(isUsed, { timeout: PATIENCE_MS }).toBe(true);
  }
});

test('many reads at once all succeed while the standby takes 200 ms for each answer, and go to it afterwards', {
  timeout: LIMIT_MS,
}, async () => {
  const key = await stack.key();
  const isUsed = (): Promise<boolean> => isBrandReadFromStandby(key);
  await expect.poll(isUsed, { timeout: PATIENCE_MS }).toBe(true);
  proxy.set('slow', 200);
  // The first reads find the standby slow; then its statements count as slow.
  for (let round = 0; round < ROUNDS; round += 1) {
    const reads = Array.from({ length: READS }, (_, read) =>
      on(app).get(`/v1/brands?limit=${read + 1}`, { key }),
    );
    for (const { status } of await Promise.all(reads)) expect([round, status]).toEqual([round, 200]);
  }
  proxy.set('pass');
  await expect.poll(isUsed, { timeout: PATIENCE_MS }).toBe(true);
});

test('no read is older than what its caller wrote, while the replay of the standby is paused', {
  timeout: LIMIT_MS,
}, async (context) => {
  const key = await stack.key();
  await pauseReplay();
  const isStale = async (own: Key, count: number, minPosition: boolean): Promise<boolean> => {
    const written = await on(app).post(notesOf(own), {
      key: own,
      body: { subject_type: 'ad', subject_key: `10000000000${count % 100}`, body: `note ${count}` },
    });
    expect(written.status).toBe(201);
    const headers = minPosition ? { 'min-position': String(written.headers['x-read-position']) } : {};
    const notes = await on(app).get(`${notesOf(own)}?limit=1`, { key: own, headers });
    return (notes.data as { id: string }[])[0]?.id !== (written.data as { id: string }).id;
  };
  try {
    const staleReadsOf = async (caller: number): Promise<number> => {
      const own = await stack.key();
      let stale = 0;
      for (let count = caller; count < pairs; count += CALLERS) {
        if (await isStale(own, count, count % (2 * CALLERS) < CALLERS)) stale += 1;
      }
      return stale;
    };
    const counts = await Promise.all(Array.from({ length: CALLERS }, (_, caller) => staleReadsOf(caller)));
    const stale = counts.reduce((sum, one) => sum + one, 0);
    judge(context, `stale reads of ${pairs} pairs of a write and a read`, stale, { equals: 0 });
  } finally {
    await resumeReplay();
  }
  await expect.poll(() => isBrandReadFromStandby(key), { timeout: PATIENCE_MS }).toBe(true);
});

test('a position that only the primary has is waited for there, also by a caller that has written nothing', {
  timeout: LIMIT_MS,
}, async () => {
  const writer = await stack.key();
  const reader = await stack.key();
  await expect.poll(() => isBrandReadFromStandby(reader), { timeout: PATIENCE_MS }).toBe(true);
  await pauseReplay();
  try {
    const written = await on(app).post(notesOf(writer), {
      key: writer,
      body: { subject_type: 'ad', subject_key: '100000000001', body: 'note' },
    });
    const reads = readsOfStandby;
    await on(app).get(notesOf(reader), {
      key: reader,
      headers: { 'min-position': String(written.headers['x-read-position']) },
    });
    expect(readsOfStandby).toBeGreaterThan(reads);
    expect(await isBrandReadFromStandby(reader)).toBe(false);
  } finally {
    await resumeReplay();
  }
});

test('a read of the primary names the position that it shows, so that another process shows as much', {
  timeout: LIMIT_MS,
}, async () => {
  const [key, other] = [await stack.key(), await stack.api({ standby: standbyReads })];
  await expect.poll(() => isBrandReadFromStandby(key), { timeout: PATIENCE_MS }).toBe(true);
  const write = (subject: string) =>
    on(app).post(notesOf(key), {
      key,
      body: { subject_type: 'ad', subject_key: subject, body: 'note' },
    });
  await write('100000000001');
  await pauseReplay();
  try {
    // The note may be that of another caller, so only the read tells the position.
    const written = await write('100000000002');
    const seen = await on(app).get(notesOf(key), { key });
    expect(seen.data).toHaveLength(2);
    const position = String(seen.headers['x-read-position']);
    expect(BigInt(position)).toBeGreaterThanOrEqual(BigInt(String(written.headers['x-read-position'])));
    const headers = { 'min-position': position };
    expect((await on(other).get(notesOf(key), { key, headers })).data).toHaveLength(2);
  } finally {
    await resumeReplay();
  }
  await expect.poll(() => isBrandReadFromStandby(key), { timeout: PATIENCE_MS }).toBe(true);
  const fromStandby = await on(app).get(notesOf(key), { key });
  expect(fromStandby.headers['x-read-position'], 'every process reads from the same standby').toBeUndefined();
});

test('a revoked key is refused and a new key is accepted at once, while the replay is paused', {
  timeout: LIMIT_MS,
}, async (context) => {
  await pauseReplay();
  let accepted = 0;
  try {
    const revokeAll = async (caller: number): Promise<void> => {
      for (let count = caller; count < revocations; count += CALLERS) {
        const key = await stack.key();
        expect((await on(app).get('/v1/brands/alpha', { key })).status).toBe(200);
        await stack.revoke(key);
        if ((await on(app).get('/v1/brands/alpha', { key })).status !== 401) accepted += 1;
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, (_, caller) => revokeAll(caller)));
    judge(context, `requests accepted after ${revocations} revocations`, accepted, { equals: 0 });
  } finally {
    await resumeReplay();
  }
});

test('reads and writes go on while the standby is gone, and reads return to it', {
  timeout: LIMIT_MS,
}, async () => {
  const key = await stack.key();
  await expect.poll(() => isBrandReadFromStandby(key), { timeout: PATIENCE_MS }).toBe(true);
  const reading = Array.from({ length: 20 }, () => on(app).get('/v1/brands/alpha', { key }));
  await postgres.standby.stop();
  for (const reply of await Promise.all(reading)) expect(reply.status).toBe(200);
  const written = await on(app).post(notesOf(key), {
    key,
    body: { subject_type: 'ad', subject_key: '100000000001', body: 'note' },
  });
  expect(written.status).toBe(201);
  expect(await isBrandReadFromStandby(key)).toBe(false);
  await postgres.startStandby();
  await expect.poll(() => isBrandReadFromStandby(key), { timeout: PATIENCE_MS }).toBe(true);
});
