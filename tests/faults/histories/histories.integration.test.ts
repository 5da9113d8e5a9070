import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type TrackingEvent, trackingStream } from '#contracts/events/workspace/workspace.ts';
import { readSettings } from '#platform/settings.ts';
import type { CorpusBrand } from '../../operations/fixtures/corpus.ts';
import { startReplicatedPostgres } from '../../application/reads/replicated-postgres.ts';
import { type ApiStack, openApiStack } from '../../operations/fixtures/stack.ts';
import { choices } from '../seeded-faults.ts';
import { createCaller } from './callers.ts';
import { judge } from '../../trials/judge.ts';
import { type FaultyApi, startFaultyApi } from './faults.ts';
import {
  type Attempt,
  type History,
  type PlayedFault,
  type Read,
  tellCalls,
  unmetFaults,
  type Write,
} from './history.ts';
import { isLinearizable, smallestUnexplained } from './linearizability.ts';
import { brokenReads, type FinalStream, smallestBroken } from './session-reads.ts';
import { partsByBrand, prefixesOf, trackingModel } from './tracking-model.ts';

/**
 * Callers track and untrack the same brands through two API processes, while the network to their servers fails and the
 * processes are stopped and killed. Every call and answer is recorded and checked afterwards: the writes have an order in
 * which the decider gives each outcome, and no caller reads less than it wrote or read before.
 */

/** HISTORIES_RUNS=100 raises the number of runs, each with its own seed (`npm run trials -- histories`). */
const { HISTORIES_RUNS: runs, HISTORIES_SEED: firstSeed } = readSettings(
  z.object({
    HISTORIES_RUNS: z.coerce.number().int().positive().default(2),
    HISTORIES_SEED: z.coerce.number().int().default(20_261_124),
  }),
);
const CALLERS = 6;
/** Callers call until all faults have been played, each at most so often. */
const CALLS = { least: 14, most: 60 };
const FAULTS = 5;
/** Least share of the faults that requests to their API met. */
const MET_SHARE = 0.8;
/** More brands than the plan `free` has slots, so that writes are refused. */
const BRANDS = 7;
const RUN_LIMIT_MS = 300_000;
/** Milliseconds by which the standby is behind: a caller that reads from it too soon sees less than it wrote. */
const STANDBY_LATE_MS = 150;
const DATABASE = 'ad_intelligence';

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
    READ_DATABASE_URLS: postgres.standby.databaseUrl(DATABASE),
  };
  brands = await stack.seed(Array.from({ length: BRANDS }, (_, place) => `brand${place}`));
  apis = [
    resources.use(await startFaultyApi('the first API', environment)),
    resources.use(await startFaultyApi('the second API', environment)),
  ];
});
afterAll(() => resources.disposeAsync());

const readStream = async (workspaceId: string): Promise<FinalStream> => {
  const events: TrackingEvent[] = [];
  const positions: bigint[] = [];
  for await (const event of stack.eventStore.read<TrackingEvent>(trackingStream(workspaceId))) {
    events.push(event);
    positions.push(event.position);
  }
  return { prefixes: prefixesOf(events), positions };
};

/** Plays one run. Returns what was recorded, and the faults. */
const play = async (seed: number) => {
  const key = await stack.key({ plan: 'free' });
  const writes: Write[] = [];
  const reads: Read[] = [];
  const attempts: Attempt[] = [];
  const record = {
    write: (one: Write) => writes.push(one),
    read: (one: Read) => reads.push(one),
    attempt: (one: Attempt) => attempts.push(one),
  };
  const callers = Array.from({ length: CALLERS }, (_, caller) =>
    createCaller({
      caller,
      key: key.text,
      workspaceId: key.workspaceId,
      brands: brands.map(({ id }) => id),
      targets: [apis[0].target, apis[1].target],
      choose: choices(seed * CALLERS + caller),
      record,
    }),
  );
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
  await Promise.all([playFaults(), ...callers.map((one) => one.play(CALLS, () => isOver))]);
  await Promise.all(callers.map((one) => one.readAll()));
  const history: History = { writes, reads };
  return { history, faults, attempts, stream: await readStream(key.workspaceId) };
};

const unanswered = (write: Write): Write => ({
  ...write,
  endedMs: Number.POSITIVE_INFINITY,
  outcome: { kind: 'unknown' },
});

describe('every call of every caller is explained', { timeout: RUN_LIMIT_MS }, () => {
  test.for(Array.from({ length: runs }, (_, run) => firstSeed + run))(
    'with seed %i',
    async (seed, context) => {
      const { history, faults, attempts, stream } = await play(seed);
      const { writes } = history;
      const played = `faults: ${faults.map(({ what }) => what).join('; ')}`;
      const last = stream.prefixes.at(-1) ?? '';
      const whole = { model: trackingModel(last), calls: writes };
      const isExplained = isLinearizable(whole.model, writes);
      const unexplained = isExplained
        ? []
        : smallestUnexplained(whole, partsByBrand(last, writes), unanswered);
      const broken = brokenReads(history, stream);
      const unmet = unmetFaults(faults, attempts);
      judge(context, `writes without an explaining order, of ${writes.length}`, unexplained.length, {
        equals: 0,
      });
      judge(context, `reads older than the caller knew, of ${history.reads.length}`, broken.length, {
        equals: 0,
      });
      judge(context, `share of ${faults.length} faults met by requests`, 1 - unmet.length / faults.length, {
        atLeast: MET_SHARE,
      });
      expect(isExplained, `no order explains:\n${tellCalls(unexplained)}\n${played}`).toBe(true);
      if (broken.length > 0) {
        const least = smallestBroken(history, stream);
        expect.fail(`${tellCalls([...least.writes, ...least.reads])}\n${broken.join('\n')}\n${played}`);
      }
      const known = writes.filter(({ outcome }) => outcome.kind !== 'unknown');
      expect(known.length, 'writes with an answer').toBeGreaterThan(writes.length / 2);
    },
  );
});

test('reads of all runs were answered by the standby too', (context) => {
  const replies = apis.reduce((sum, api) => sum + api.standbyReplies(), 0);
  judge(context, `replies of the standby in ${runs} runs`, replies, { atLeast: runs });
});
