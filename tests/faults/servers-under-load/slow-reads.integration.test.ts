import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { ReadDatabase, ReadQuery } from '#contracts/ports/read-database.ts';
import { pause } from '#platform/clock.ts';
import { openReadDatabase } from '#platform/postgres/pool.ts';
import { readSettings } from '#platform/settings.ts';
import { type ApiStack, type Key, openApiStack } from '../../operations/fixtures/stack.ts';
import { percentileOfRounds } from '#tests/percentile.ts';
import { judge } from '../../trials/judge.ts';

/** Many slow reads at once, half of them searches, while others read little and use keys for the first time. */

const { SLOW_READS_SECONDS: seconds } = readSettings(
  z.object({ SLOW_READS_SECONDS: z.coerce.number().int().min(1).default(1) }),
);
/** The long form (`npm run trial -- slow-reads`) needs the machine to itself, and judges times. */
const isLong = seconds >= 20;
const SLOW_READS = 50;
const SLOW_MS = 200;
/** Slow reads of a workspace, so that its own limit refuses none. */
const PER_WORKSPACE = 2;
const HOT_RATIO = 2;
const KEY_CHECK_RATIO = 1.5;
/** Rounds. Each measures without slow reads first, and then with them. The figures are medians of the rounds. */
const ROUNDS = isLong ? 5 : 1;
/** New keys that are used for the first time in one measurement. */
const KEYS = isLong ? 40 : 10;
/** Milliseconds after which a slow read is sent again that was refused. */
const REFUSED_MS = 200;
const WARM_UP_READS = 500;

let stack: ApiStack;
let app: FastifyInstance;
let other: Key;
let slowKeys: readonly Key[];
let answeredSlowly = 0;
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

/** Sends slow reads, each again when it has ended, until the signal is aborted. */
const readSlowly = async (signal: AbortSignal): Promise<void> => {
  const readOn = async (key: Key, place: number): Promise<void> => {
    const urls = [`/v1/ads?q=word${place}`, `/v1/workspaces/${key.workspaceId}/notes?limit=1`];
    while (!signal.aborted) {
      const status = await get(urls[place % urls.length] ?? '', key);
      expect([200, 503]).toContain(status);
      if (status === 200) answeredSlowly += 1;
      else await pause(REFUSED_MS, signal);
    }
  };
  const reads = slowKeys.flatMap((key) =>
    Array.from({ length: PER_WORKSPACE }, (_, place) => readOn(key, place)),
  );
  await Promise.all(reads);
};

test('fifty slow reads hold up neither light reads nor checks of keys', {
  timeout: 600_000,
}, async (context) => {
  const keys: Key[] = [];
  while (keys.length < 2 * KEYS * ROUNDS) keys.push(await stack.key());
  for (let read = 0; read < (isLong ? WARM_UP_READS : 10); read += 1)
    await timed('/v1/brands/alpha-com', other);
  const [alone, beside]: [Measured[], Measured[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    alone.push(await measure(keys.splice(0, KEYS)));
    const ending = new AbortController();
    const answeredBefore = answeredSlowly;
    const reading = readSlowly(ending.signal);
    // The first slow reads find out which statements are slow.
    await expect
      .poll(() => answeredSlowly, { timeout: 60_000 })
      .toBeGreaterThan(answeredBefore + SLOW_READS / 10);
    beside.push(await measure(keys.splice(0, KEYS)));
    ending.abort();
    await reading;
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
