import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { pause } from '#platform/clock.ts';
import { readSettings } from '#platform/settings.ts';
import type { CorpusBrand } from '../../operations/fixtures/corpus.ts';
import { startReplicatedPostgres } from '../../application/reads/replicated-postgres.ts';
import { type ApiStack, openApiStack } from '../../operations/fixtures/stack.ts';
import { choices } from '../seeded-faults.ts';
import { judge } from '../../trials/judge.ts';
import { play as playCaller, readAll } from './callers.ts';
import { type FaultyApi, startFaultyApi } from './faults.ts';
import { type Attempt, type PlayedFault, unmetFaults } from './history.ts';
import { createKeyRecord } from './key-uses.ts';
import { collectionsOf } from './kinds/collections.ts';
import { notesOf } from './kinds/notes.ts';
import { trackingOf } from './kinds/tracking.ts';
import { createRecord, type KindRecord } from './record.ts';
import { openSession } from './session.ts';

/**
 * Two API processes serve one workspace while networks and processes fail. The writes of each stream need an order
 * that the decider explains; reads never go back, and a revoked key opens nothing.
 */

/** More runs: HISTORIES_RUNS=100, each with its own seed (`npm run trials -- histories`). */
const { HISTORIES_RUNS: runs, HISTORIES_SEED: firstSeed } = readSettings(
  z.object({
    HISTORIES_RUNS: z.coerce.number().int().positive().default(2),
    HISTORIES_SEED: z.coerce.number().int().default(20_261_124),
  }),
);
const CALLERS = 6;
/** Limits of a caller, which calls until all faults have been played. */
const CALLS = { least: 24, most: 90 };
const FAULTS = 5;
/** Share of the faults that requests must meet. */
const MET_SHARE = 0.8;
/** More brands than the plan `free` has slots, so that writes are refused. */
const BRANDS = 7;
const RUN_LIMIT_MS = 300_000;
/** Lag of the standby: a caller that reads from it too soon sees less than it wrote. */
const STANDBY_LATE_MS = 150;
/** Longer than the lag and a comparison of both servers. */
const STANDBY_CATCHES_UP_MS = 1_500;
const STANDBY_REPLIES_WITHIN_MS = 30_000;
const DATABASE = 'ad_intelligence';
const LOG_BUFFER_ITEMS = 1_000;

let stack: ApiStack;
let apis: readonly [FaultyApi, FaultyApi];
let brands: readonly CorpusBrand[];
const resources = new AsyncDisposableStack();
beforeAll(async () => {
  const postgres = resources.use(await startReplicatedPostgres({ lateMs: STANDBY_LATE_MS }));
  await postgres.primary.createDatabase(DATABASE);
  stack = resources.use(
    await openApiStack({ url: postgres.primary.databaseUrl(DATABASE), drop: () => Promise.resolve() }),
  );
  const environment = {
    ...stack.environment,
    READ_DATABASE_URL: postgres.standby.databaseUrl(DATABASE),
  };
  brands = await stack.seed(Array.from({ length: BRANDS }, (_, place) => `brand${place}`));
  apis = [
    resources.use(await startFaultyApi('the first API', environment)),
    resources.use(await startFaultyApi('the second API', environment)),
  ];
});
afterAll(() => resources.disposeAsync());

const readLog = async (prefixes: readonly string[]): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = [];
  await using follower = stack.eventStore.follow({ after: null, prefixes, bufferItems: LOG_BUFFER_ITEMS });
  for (;;) {
    for (const item of await follower.take(LOG_BUFFER_ITEMS)) {
      if (item.kind === 'event') events.push(item.event);
      if (item.kind === 'caught_up') return events;
    }
  }
};

const standbyReplies = (): number => apis.reduce((sum, api) => sum + api.standbyReplies(), 0);

/** A key that wrote, or read the primary, reads the primary until the standby has caught up, so it has to rest before. */
const readUntilStandbyReplies = async (read: () => Promise<unknown>): Promise<void> => {
  const before = standbyReplies();
  const untilMs = Date.now() + STANDBY_REPLIES_WITHIN_MS;
  await read();
  while (standbyReplies() === before && Date.now() < untilMs) {
    await pause(STANDBY_CATCHES_UP_MS);
    await read();
  }
};

const play = async (seed: number) => {
  const key = await stack.key({ plan: 'free' });
  const keys = createKeyRecord(key);
  const records: readonly KindRecord[] = [
    createRecord(
      trackingOf(
        key.workspaceId,
        brands.map(({ id }) => id),
      ),
    ),
    createRecord(notesOf(key)),
    createRecord(collectionsOf(key)),
    keys,
  ];
  const attempts: Attempt[] = [];
  const callers = Array.from({ length: CALLERS }, (_, caller) => {
    const choose = choices(seed * CALLERS + caller);
    const session = openSession({
      caller,
      key: key.text,
      targets: [apis[0].target, apis[1].target],
      choose,
      onAttempt: (one) => attempts.push(one),
    });
    return { session, choose };
  });
  const faults: PlayedFault[] = [];
  let isOver = false;
  const playFaults = async (): Promise<void> => {
    const choose = choices(seed);
    try {
      for (let played = 0; played < FAULTS; played += 1) {
        const api = choose(2);
        faults.push({ api, ...(await (apis[api] as FaultyApi).playFault(choose)) });
      }
    } finally {
      isOver = true;
    }
  };
  const limits = { limits: CALLS, isOver: () => isOver };
  await Promise.all([
    playFaults(),
    ...callers.map(({ session, choose }) => playCaller(session, records, choose, limits)),
  ]);
  await readUntilStandbyReplies(() => Promise.all(callers.map(({ session }) => readAll(session, records))));
  const log = await readLog(records.map(({ streams }) => streams));
  const found = records.map((record) => ({ name: record.name, ...record.check(log) }));
  return { found, uses: keys.uses(), faults, attempts };
};

const total = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

describe('every call of every caller is explained', { timeout: RUN_LIMIT_MS }, () => {
  test.for(Array.from({ length: runs }, (_, run) => firstSeed + run))(
    'with seed %i',
    async (seed, context) => {
      const { found, uses, faults, attempts } = await play(seed);
      const played = `faults: ${faults.map(({ what }) => what).join('; ')}`;
      const judgeSum = (what: string, countOf: (one: (typeof found)[number]) => number): void =>
        judge(context, what, total(found.map(countOf)), { equals: 0 });
      const writes = total(found.map((one) => one.writes));
      const reads = total(found.map((one) => one.reads));
      judgeSum(`streams of ${writes} writes without an explaining order`, (one) => one.unexplained.length);
      judgeSum(`events recorded twice, of ${writes} writes`, (one) => one.doubled.length);
      judgeSum(`reads older than the caller knew, of ${reads}`, (one) => one.stale.length);
      judge(context, `wrong answers to requests with issued keys, of ${uses.sent}`, uses.broken.length, {
        equals: 0,
      });
      const unmet = unmetFaults(faults, attempts);
      judge(context, `share of ${faults.length} faults met by requests`, 1 - unmet.length / faults.length, {
        atLeast: MET_SHARE,
      });
      for (const { name, unexplained, doubled, stale, contradiction, ...counts } of found) {
        expect(unexplained, `no order explains these writes of ${name}; ${played}`).toEqual([]);
        expect(doubled, `recorded twice, of ${name}; ${played}`).toEqual([]);
        expect(stale, `${contradiction}\n${name}; ${played}`).toEqual([]);
        expect(counts.answered, `answered writes of ${name}`).toBeGreaterThan(counts.writes / 2);
      }
      expect(uses.broken, played).toEqual([]);
    },
  );
});

test('reads of all runs were answered by the standby too', (context) => {
  judge(context, `replies of the standby in ${runs} runs`, standbyReplies(), { atLeast: runs });
});
