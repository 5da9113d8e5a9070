import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { readSettings } from '#platform/settings.ts';
import { type ApiStack, type Key, openApiStack } from '../../operations/fixtures/stack.ts';
import { percentileOfRounds } from '#tests/percentile.ts';
import { judge } from '../../trials/judge.ts';
import { type CallersProcess, startCallers } from './callers-process.ts';
import { AS_IN_PRODUCTION, type Caller, createCaller, type LoadedApi, startLoadedApi } from './loaded-api.ts';
import type { LightReads, LightReadTimes } from './light-callers.ts';
import type { AnsweredSlowly, SlowCallers } from './slow-callers.ts';

const { SLOW_READS_SECONDS: seconds } = readSettings(
  z.object({ SLOW_READS_SECONDS: z.coerce.number().int().min(1).default(1) }),
);
/** The long form (`npm run trial -- slow-reads`) judges times, and needs the machine to itself. */
const isLong = seconds >= 20;
const SLOW_READS = 50;
const HOT_CALLERS = 1;
const SLOW_MS = 200;
const SLOW_CALLERS = join(import.meta.dirname, 'slow-callers.ts');
const LIGHT_CALLERS = join(import.meta.dirname, 'light-callers.ts');
/** Slow reads of a workspace, below its limit, which refuses none. */
const PER_WORKSPACE = 2;
const HOT_RATIO = 2;
const KEY_CHECK_RATIO = 2;
/** Rounds with and without slow reads; figures are medians. */
const ROUNDS = isLong ? 5 : 1;
const KEYS = isLong ? 100 : 10;

const SLOW_TABLE = 'ads.ad';

let stack: ApiStack;
let api: LoadedApi;
let other: Caller;
let slowKeys: readonly Key[];
const newKeys: Key[] = [];
const resources = new AsyncDisposableStack();

/** A view makes each statement that reads the table sleep once. */
const slowDown = async (table: string): Promise<void> => {
  const [schema, name] = table.split('.');
  await stack.pool.query(`alter table ${table} rename to ${name}_rows`);
  await stack.pool.query(`create view ${table} as select * from ${schema}.${name}_rows
    where (select pg_sleep(${SLOW_MS / 1_000})) is not null`);
};

beforeAll(async () => {
  stack = resources.use(await openApiStack());
  other = await createCaller(stack);
  slowKeys = await Promise.all(Array.from({ length: SLOW_READS / PER_WORKSPACE }, () => stack.key()));
  while (newKeys.length < (2 * ROUNDS + 1) * KEYS) newKeys.push(await stack.key());
  // The view takes no rows of a projector. A key that is created later would wait for it.
  await stack.stopProjector();
  await slowDown(SLOW_TABLE);
  api = await startLoadedApi(stack, other, isLong ? AS_IN_PRODUCTION : {});
  resources.defer(async () => void (await api.process.stop()));
}, 300_000);
afterAll(() => resources.disposeAsync());

const measure = (callers: CallersProcess, keys: readonly Key[]): Promise<LightReadTimes> =>
  callers.ask<LightReadTimes>({
    origin: api.origin,
    path: '/v1/brands/alpha',
    key: other.key.text,
    callers: HOT_CALLERS,
    newKeys: keys.map(({ text }) => text),
    everyMs: (seconds * 1_000) / ROUNDS / keys.length,
  } satisfies LightReads);

/** Slow reads, sent again when answered. Dispose of it to end them. */
const readSlowly = () => {
  const callers = startCallers(SLOW_CALLERS);
  const readers = slowKeys.flatMap(({ text }) => [
    { key: text, url: `/v1/ads?q=word` },
    { key: text, url: `/v1/ads?q=other` },
  ]);
  return {
    answered: async (): Promise<number> =>
      (await callers.ask<AnsweredSlowly>({ origin: api.origin, readers } satisfies SlowCallers)).answered,
    [Symbol.asyncDispose]: () => callers[Symbol.asyncDispose](),
  };
};

test('fifty slow reads hold up neither light reads nor checks of keys', {
  timeout: 600_000,
}, async (context) => {
  await using callers = startCallers(LIGHT_CALLERS);
  // The first reads are slow: code is compiled and connections are made.
  await measure(callers, newKeys.splice(0, KEYS));
  const [alone, beside]: [LightReadTimes[], LightReadTimes[]] = [[], []];
  let answeredSlowly = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    alone.push(await measure(callers, newKeys.splice(0, KEYS)));
    await using reading = readSlowly();
    await expect.poll(() => reading.answered(), { timeout: 60_000 }).toBeGreaterThan(SLOW_READS / 10);
    const answeredBefore = await reading.answered();
    beside.push(await measure(callers, newKeys.splice(0, KEYS)));
    answeredSlowly += (await reading.answered()) - answeredBefore;
  }
  const figureOf = (rounds: readonly LightReadTimes[], which: keyof LightReadTimes, share: number): number =>
    percentileOfRounds(
      rounds.map((round) => round[which]),
      share,
    );
  const ratioOf = (which: keyof LightReadTimes, share: number): number =>
    figureOf(beside, which, share) / figureOf(alone, which, share);
  const allBeside = (which: keyof LightReadTimes): readonly number[] =>
    beside.flatMap((round) => round[which]);
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
