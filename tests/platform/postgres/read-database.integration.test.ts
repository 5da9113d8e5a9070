import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openPool } from '#platform/postgres/pool.ts';
import {
  LIGHT_READS_MAX,
  type OpenReadDatabase,
  openReadDatabase,
  ReadsBusy,
} from '#platform/postgres/read-database.ts';
import { proxied } from '../../faults/fault-proxy.ts';

/** Heavy reads; a light read overtakes them. The test asserts order, and no time. */

const HEAVY_READS = 20;
/** Seconds of a heavy read; six run at the same time. */
const HEAVY_SECONDS = 0.8;
const LIGHT = { sql: 'select 1 as one', values: [] };
const PATIENCE = { timeout: 60_000 } as const;
const ANSWER_MS = 1_000;

let reads: OpenReadDatabase;
beforeAll(async () => {
  reads = openReadDatabase(inject('databaseUrl'));
  await reads.connect();
});
afterAll(() => reads[Symbol.asyncDispose]());

const lightSucceed = async (db: OpenReadDatabase): Promise<boolean> => {
  const all = await Promise.allSettled(Array.from({ length: 20 }, () => db.query(LIGHT)));
  return all.every(({ status }) => status === 'fulfilled');
};

test('light reads do not wait for heavy ones', async () => {
  let answered = 0;
  const heavy = Array.from({ length: HEAVY_READS }, async () => {
    await reads.slow({ sql: 'select pg_sleep($1)::text', values: [HEAVY_SECONDS] });
    answered += 1;
  });
  for (let read = 0; read < HEAVY_READS; read += 1) expect(await reads.query(LIGHT)).toEqual([{ one: 1 }]);
  expect(answered).toBeLessThan(HEAVY_READS);
  await Promise.allSettled(heavy);
});

test('connections that the server ended are opened again', async () => {
  const pool = openPool(inject('databaseUrl'), 1);
  try {
    const pids = await Promise.all(
      Array.from({ length: 20 }, () =>
        reads.query<{ pid: number }>({ sql: 'select pg_backend_pid() as pid', values: [] }),
      ),
    );
    await pool.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [
      pids.map(([row]) => row?.pid),
    ]);
  } finally {
    await pool.end();
  }
  await expect.poll(() => lightSucceed(reads), PATIENCE).toBe(true);
});

test('too many light reads at once are refused', async () => {
  const sent = Array.from({ length: LIGHT_READS_MAX }, () => reads.query(LIGHT));
  await expect(reads.query(LIGHT)).rejects.toBeInstanceOf(ReadsBusy);
  await Promise.all(sent);
  expect(await reads.query(LIGHT)).toEqual([{ one: 1 }]);
});

test('after one dead connection is found, no read meets another one', async () => {
  const { proxy, url } = await proxied(inject('databaseUrl'));
  await using _ = proxy;
  await using db = openReadDatabase(url, { answerMs: ANSWER_MS });
  await db.connect();
  expect(await db.query(LIGHT)).toEqual([{ one: 1 }]);
  proxy.halfOpen();
  await expect(db.query(LIGHT)).rejects.toThrow('timeout');
  for (let read = 0; read < 8; read += 1) {
    expect(await db.query(LIGHT)).toEqual([{ one: 1 }]);
    await new Promise(setImmediate);
  }
});

test('light reads fail in time while the server is mute, and succeed when it is back', async () => {
  const { proxy, url } = await proxied(inject('databaseUrl'));
  await using _ = proxy;
  await using db = openReadDatabase(url, { answerMs: ANSWER_MS });
  await db.connect();
  proxy.set('mute');
  for (let round = 0; round < 2; round += 1) {
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => db.query(LIGHT)));
    expect(all.every(({ status }) => status === 'rejected')).toBe(true);
  }
  proxy.set('pass');
  await expect.poll(() => lightSucceed(db), PATIENCE).toBe(true);
});
