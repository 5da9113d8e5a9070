import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Log } from '#platform/logger.ts';
import { batchMeter } from '#platform/telemetry/metrics.ts';
import type { Pipeline } from '#platform/postgres/pipelined-transaction.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { isTransient, type Target } from './apply-batch.ts';
import { applyTogether } from './apply-in-one-transaction.ts';
import { moveIdleCheckpoints, readCheckpoint } from './checkpoints.ts';
import { applyOrPark, type ParkedStreams } from './park-stream.ts';

/** Events that are applied to all projections in one transaction; more go to each in its own, side by side. */
const TOGETHER_EVENTS_MAX = 200;
/** Checkpoints of projections that a batch has nothing for are stored no more often than this. */
const IDLE_CHECKPOINTS_MS = 100;

/** A projection that this process owns. */
export type Running = {
  readonly target: Target;
  readonly prefixes: readonly string[];
  readonly parked: ParkedStreams;
  /** Everything up to here is applied, or parked; the stored checkpoint may be older where nothing was. */
  position: bigint;
  stored: bigint;
  live: boolean;
};

type Part = { readonly one: Running; readonly events: readonly RecordedEvent[] };

/** Those of a batch that are for a projection and that it does not have yet. */
const eventsOf = (
  { position, prefixes }: Running,
  events: readonly RecordedEvent[],
): readonly RecordedEvent[] =>
  events.filter(
    (event) => event.position > position && prefixes.some((prefix) => event.stream.startsWith(prefix)),
  );

const nameOf = ({ target }: Running): string => target.projection.name;

/** Throws where somebody else moved a checkpoint: what is known of it has to be read again. */
const assertStored = async (database: Database, parts: readonly Part[]): Promise<void> => {
  for (const { one } of parts) {
    const checkpoint = await readCheckpoint(database, nameOf(one));
    if (checkpoint?.position !== one.stored) throw new Error(`the checkpoint of ${nameOf(one)} was moved`);
  }
};

/** Gives batches of the log to projections. One batch at a time. */
export const openApplying = (database: Database, pipeline: Pipeline, log: Log) => {
  let storedAtMs = 0;
  let soon: NodeJS.Timeout | undefined;
  let storing: Promise<void> = Promise.resolve();
  let unstored: (() => Promise<void>) | undefined;

  const meters = new Map<string, ReturnType<typeof batchMeter>>();
  /** What one projection applied, and not what it parked. */
  const count = (one: Running, events: number, sinceMs: number): void => {
    const name = nameOf(one);
    const meter = meters.get(name) ?? batchMeter(name);
    meters.set(name, meter);
    meter(events, (performance.now() - sinceMs) / 1_000);
  };

  const storeIdle = async (running: readonly Running[], position: bigint): Promise<void> => {
    const idle = running.filter((one) => one.position === position && one.stored < position);
    storedAtMs = performance.now();
    const checkpoints = idle.map((one) => ({ name: nameOf(one), stored: one.stored }));
    const passed = running.filter((one) => one.position === position);
    await moveIdleCheckpoints(database, checkpoints, position, passed.map(nameOf));
    for (const one of idle) one.stored = position;
  };

  /** When nothing more comes, the checkpoints are stored all the same. */
  const storeIdleSoon = (running: readonly Running[], position: bigint): void => {
    unstored = () =>
      storeIdle(running, position).catch((error: unknown) =>
        log.warn({ err: error }, 'checkpoints of idle projections were not stored'),
      );
    soon = setTimeout(() => {
      storing = unstored?.() ?? storing;
      unstored = undefined;
    }, IDLE_CHECKPOINTS_MS);
    soon.unref();
  };

  const applyEach = async (parts: readonly Part[], position: bigint): Promise<void> => {
    // All are awaited, also when one fails: none may still be writing when the pass starts again.
    const outcomes = await Promise.allSettled(
      parts.map(async ({ one, events }) => {
        const sinceMs = performance.now();
        const { target, parked } = one;
        const applied = await applyOrPark(database, target, parked, events, position, (error) => {
          const { type, stream, position: at } = error.event;
          const cause = { type, stream, position: String(at), reason: error.message };
          log.error({ projection: nameOf(one), ...cause }, 'event parked with the rest of its stream');
        });
        count(one, applied, sinceMs);
        one.position = position;
        one.stored = position;
      }),
    );
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  };

  const together = async (
    parts: readonly Part[],
    position: bigint,
    passed: readonly Running[],
  ): Promise<boolean> => {
    const events = parts.reduce((sum, part) => sum + part.events.length, 0);
    const waits = parts.some((part) => part.events.some(({ stream }) => part.one.parked.has(stream)));
    if (events > TOGETHER_EVENTS_MAX || waits) return false;
    try {
      const targets = parts.map(({ one: { target, stored }, events: own }) => ({
        target,
        stored,
        events: own,
      }));
      return await applyTogether(pipeline, targets, position, passed.map(nameOf));
    } catch (error) {
      if (isTransient(error)) throw error;
      await assertStored(database, parts);
      return false;
    }
  };

  return {
    /** Applies a batch, moves the checkpoints of all to `position` and tells readers. */
    apply: async (
      running: readonly Running[],
      events: readonly RecordedEvent[],
      position: bigint,
    ): Promise<void> => {
      clearTimeout(soon);
      unstored = undefined;
      // Both move a checkpoint from where they know it to be.
      await storing;
      const behind = running.filter((one) => one.position < position);
      const parts = behind.map((one) => ({ one, events: eventsOf(one, events) }));
      const busy = parts.filter((part) => part.events.length > 0);
      const since = performance.now();
      const storesIdle = since - storedAtMs >= IDLE_CHECKPOINTS_MS;
      const stored = storesIdle ? parts : busy;
      if (await together(stored, position, behind)) {
        for (const { one } of stored) one.stored = position;
        for (const one of behind) one.position = position;
        for (const { one, events: own } of busy) count(one, own.length, since);
        if (storesIdle) storedAtMs = performance.now();
        else storeIdleSoon(running, position);
        return;
      }
      await applyEach(busy, position);
      // Plans of small tables do not suit large ones, and it takes a while until the tables are analyzed.
      pipeline.forgetPlans();
      for (const one of behind) one.position = position;
      await storeIdle(running, position);
    },
    /** Stores what is not stored yet, and nothing after that. */
    end: async (): Promise<void> => {
      clearTimeout(soon);
      await storing;
      await unstored?.();
    },
  };
};
