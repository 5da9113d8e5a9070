import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type TrackingEvent, trackingStream } from '#contracts/events/workspace/workspace.ts';
import { readSettings } from '#platform/settings.ts';
import type { CorpusBrand } from '../../operations/fixtures/corpus.ts';
import { type ApiStack, openApiStack } from '../../operations/fixtures/stack.ts';
import { choices } from '../seeded-faults.ts';
import { createCaller } from './callers.ts';
import { judge } from '../../trials/judge.ts';
import { type FaultyApi, startFaultyApi } from './faults.ts';
import { type History, type Read, tellWrites, type Write } from './history.ts';
import { isLinearizable, shortestUnexplained } from './linearizability.ts';
import { brokenReads, type FinalStream } from './session-reads.ts';
import { prefixesOf, trackingModel } from './tracking-model.ts';

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
const CALLS_EACH = 14;
const FAULTS = 5;
/** More brands than the plan `free` has slots, so that writes are refused. */
const BRANDS = 7;
const RUN_LIMIT_MS = 300_000;

let stack: ApiStack;
let apis: readonly [FaultyApi, FaultyApi];
let brands: readonly CorpusBrand[];
const resources = new AsyncDisposableStack();
beforeAll(async () => {
  stack = resources.use(await openApiStack());
  brands = await stack.seed(Array.from({ length: BRANDS }, (_, place) => `brand${place}`));
  apis = [
    resources.use(await startFaultyApi('the first API', stack.environment)),
    resources.use(await startFaultyApi('the second API', stack.environment)),
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
  const record = { write: (one: Write) => writes.push(one), read: (one: Read) => reads.push(one) };
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
  const faults: string[] = [];
  const playFaults = async (): Promise<void> => {
    const choose = choices(seed);
    for (let played = 0; played < FAULTS; played += 1)
      faults.push(await (apis[choose(2)] as FaultyApi).playFault(choose));
  };
  await Promise.all([playFaults(), ...callers.map((one) => one.play(CALLS_EACH))]);
  await Promise.all(callers.map((one) => one.readAll()));
  const history: History = { writes, reads };
  return { history, faults, stream: await readStream(key.workspaceId) };
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
      const { history, faults, stream } = await play(seed);
      const { writes } = history;
      const model = trackingModel(stream.prefixes.at(-1) ?? '');
      const isExplained = isLinearizable(model, writes);
      const unexplained = isExplained ? [] : shortestUnexplained(model, writes, unanswered);
      expect(
        isExplained,
        `no order explains:\n${tellWrites(unexplained)}\nfaults: ${faults.join('; ')}`,
      ).toBe(true);
      const broken = brokenReads(history, stream);
      judge(context, `writes without an explaining order, of ${writes.length}`, unexplained.length, {
        equals: 0,
      });
      judge(context, `reads older than the caller knew, of ${history.reads.length}`, broken.length, {
        equals: 0,
      });
      expect(broken, `faults: ${faults.join('; ')}`).toEqual([]);
      const known = writes.filter(({ outcome }) => outcome.kind !== 'unknown');
      expect(known.length, 'writes with an answer').toBeGreaterThan(writes.length / 2);
    },
  );
});
