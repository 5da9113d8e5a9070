import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { ReadDatabase, ReadQuery } from '#contracts/ports/read-database.ts';
import { openReadDatabase } from '#platform/postgres/pool.ts';
import { readSettings } from '#platform/settings.ts';
import { type ApiStack, type Key, openApiStack } from '../../operations/fixtures/stack.ts';
import { percentileOfRounds } from '#tests/percentile.ts';
import { judge } from '../../trials/judge.ts';
import type { AnsweredSlowly, SlowCallers } from './slow-callers.ts';

/** Many slow reads at once, half of them searches, while others read little and use keys for the first time. */

const { SLOW_READS_SECONDS: seconds } = readSettings(
  z.object({ SLOW_READS_SECONDS: z.coerce.number().int().min(1).default(1) }),
);
/** The long form (`npm run trial -- slow-reads`) needs the machine to itself, and judges times. */
const isLong = seconds >= 20;
const SLOW_READS = 50;
const SLOW_MS = 200;
const SLOW_CALLERS = join(import.meta.dirname, 'slow-callers.ts');
/** Slow reads of a workspace, so that its own limit refuses none. */
const PER_WORKSPACE = 2;
const HOT_RATIO = 2;
const KEY_CHECK_RATIO = 1.5;
/** Rounds. Each measures without slow reads first, and then with them. The figures are medians of the rounds. */
const ROUNDS = isLong ? 5 : 1;
/** New keys that are used for the first time in one measurement. */
const KEYS = isLong ? 40 : 10;
const WARM_UP_READS = 500;

let stack: ApiStack;
let app: FastifyInstance;
let other: Key;
let slowKeys: readonly Key[];
let origin: string;
const resources = new AsyncDisposableStack();

const SLEEP: ReadQuery = { sql: `select pg_sleep(${SLOW_MS / 1_000})`, values: [] };
/** Makes searches and lists of notes slow, on the connections that they use. */
const slowed = (db: ReadDatabase): ReadDatabase => ({
  query: async (statement) => {
    if (statement.sql.includes('notes.')) await db.query(SLEEP);
    return db.query(statement);
  },
  slow: async (statement) => {
    await db.slow(SLEEP);
    return db.slow(statement);
  },
});

beforeAll(async () => {
  stack = resources.use(await openApiStack());
  const url = stack.environment['DATABASE_URL'] ?? '';
  const [real, accessDb] = [resources.use(openReadDatabase(url)), resources.use(openReadDatabase(url))];
  await Promise.all([real.connect(), accessDb.connect()]);
  app = await stack.api({ db: slowed(real), accessDb, requestsPerMinute: 1_000_000 });
  origin = await app.listen({ host: '127.0.0.1', port: 0 });
  other = await stack.key();
  slowKeys = await Promise.all(Array.from({ length: SLOW_READS / PER_WORKSPACE }, () => stack.key()));
  await stack.seed(['alpha']);
});
afterAll(() => resources.disposeAsync());

const get = async (url: string, key: Key): Promise<number> =>
  (await app.inject({ url, headers: { authorization: `Bearer ${key.text}` } })).statusCode;

const timed = async (url: string, key: Key): Promise<number> => {
  const since = performance.now();
  expect(await get(url, key)).toBe(200);
  return performance.now() - since;
};

type Measured = { readonly hot: readonly number[]; readonly checks: readonly number[] };

/** Reads a brand all the time, and uses each key for the first time in between. Returns milliseconds. */
const measure = async (keys: readonly Key[]): Promise<Measured> => {
  const [hot, checks]: [number[], number[]] = [[], []];
  const everyMs = (seconds * 1_000) / ROUNDS / keys.length;
  const startMs = performance.now();
  for (const [index, key] of keys.entries()) {
    checks.push(await timed('/v1/me', key));
    do hot.push(await timed('/v1/brands/alpha-com', other));
    while (performance.now() < startMs + (index + 1) * everyMs);
  }
  return { hot, checks };
};

/** Slow reads of all keys, sent by another process, each again when it has ended. Dispose of it to end them. */
const readSlowly = () => {
  const callers = fork(SLOW_CALLERS, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = once(callers, 'exit');
  const readers = slowKeys.flatMap(({ text, workspaceId }) => [
    { key: text, url: `/v1/ads?q=word` },
    { key: text, url: `/v1/workspaces/${workspaceId}/notes?limit=1` },
  ]);
  callers.send({ origin, readers } satisfies SlowCallers);
  return {
    /** Returns how many were answered so far. */
    answered: async (): Promise<number> => {
      const reply = once(callers, 'message');
      callers.send('how many?');
      const [{ answered }] = (await reply) as [AnsweredSlowly];
      return answered;
    },
    [Symbol.asyncDispose]: async () => {
      callers.kill('SIGKILL');
      await ended;
    },
  };
};

test('fifty slow reads hold up neither light reads nor checks of keys', {
  timeout: 600_000,
}, async (context) => {
  const keys: Key[] = [];
  while (keys.length < 2 * KEYS * ROUNDS) keys.push(await stack.key());
  for (let read = 0; read < (isLong ? WARM_UP_READS : 10); read += 1)
    await timed('/v1/brands/alpha-com', other);
  const [alone, beside]: [Measured[], Measured[]] = [[], []];
  let answeredSlowly = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    alone.push(await measure(keys.splice(0, KEYS)));
    await using reading = readSlowly();
    // The first slow reads find out which statements are slow.
    await expect.poll(() => reading.answered(), { timeout: 60_000 }).toBeGreaterThan(SLOW_READS / 10);
    const answeredBefore = await reading.answered();
    beside.push(await measure(keys.splice(0, KEYS)));
    answeredSlowly += (await reading.answered()) - answeredBefore;
  }
  const figureOf = (rounds: readonly Measured[], which: keyof Measured, share: number): number =>
    percentileOfRounds(
      rounds.map((round) => round[which]),
      share,
    );
  const ratioOf = (which: keyof Measured, share: number): number =>
    figureOf(beside, which, share) / figureOf(alone, which, share);
  const allBeside = (which: keyof Measured): readonly number[] => beside.flatMap((round) => round[which]);
  judge(
    context,
    `p99 of ${allBeside('hot').length} hot reads beside ${SLOW_READS} slow ones, alone ${figureOf(alone, 'hot', 0.99).toFixed(1)} ms`,
    ratioOf('hot', 0.99),
    { atMost: HOT_RATIO, unit: '×', isJudged: isLong },
  );
  judge(
    context,
    `p95 of ${allBeside('checks').length} checks of new keys, alone ${figureOf(alone, 'checks', 0.95).toFixed(1)} ms`,
    ratioOf('checks', 0.95),
    { atMost: KEY_CHECK_RATIO, unit: '×', isJudged: isLong },
  );
  // However busy the machine is: 50 reads of 200 ms on two connections would take longer.
  expect(Math.max(...allBeside('checks'))).toBeLessThan(SLOW_MS * SLOW_READS);
  expect(answeredSlowly).toBeGreaterThan(0);
});
