import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Log } from '#platform/logger.ts';
import { batchMeter } from '#platform/telemetry/metrics.ts';
import type { Pipeline } from '#platform/postgres/pipelined-transaction.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { isTransient, type Target } from './apply-batch.ts';
import { applyInOneTransaction } from './apply-in-one-transaction.ts';
import { moveIdleCheckpoints, readCheckpoint } from './checkpoints.ts';
import { applyOrPark, type ParkedStreams } from './park-stream.ts';

/**
 * Maximum events applied to all projections in one transaction. Larger batches use one transaction for each
 * projection, in parallel.
 */
const ONE_TRANSACTION_EVENTS_MAX = 200;
/** Minimum milliseconds between two writes of the checkpoints of projections without events in the batch. */
const IDLE_CHECKPOINTS_MS = 100;

/** A projection owned by this process, with its in-memory position. */
export type Running = {
  readonly target: Target;
  readonly prefixes: readonly string[];
  readonly parked: ParkedStreams;
  /**
   * Every event up to this position is applied or parked. The stored checkpoint may be lower if no event was
   * for this projection.
   */
  position: bigint;
  stored: bigint;
  live: boolean;
};

type Part = { readonly one: Running; readonly events: readonly RecordedEvent[] };

/** Returns the events of a batch that match the projection's prefixes and lie after its position. */
const eventsOf = (
  { position, prefixes }: Running,
  events: readonly RecordedEvent[],
): readonly RecordedEvent[] =>
  events.filter(
    (event) => event.position > position && prefixes.some((prefix) => event.stream.startsWith(prefix)),
  );

const nameOf = ({ target }: Running): string => target.projection.name;

/** Throws if another process moved a checkpoint: the state in memory is stale and must be read again. */
const assertCheckpointsUnmoved = async (database: Database, parts: readonly Part[]): Promise<void> => {
  for (const { one } of parts) {
    const checkpoint = await readCheckpoint(database, nameOf(one));
    if (checkpoint?.position !== one.stored)
      throw new Error(`checkpoint of ${nameOf(one)} moved by another process`);
  }
};

/** Creates the dispatcher that applies batches of the log to projections, one batch at a time. */
export const createBatchDispatcher = (database: Database, pipeline: Pipeline, log: Log) => {
  let storedAtMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let storing: Promise<void> = Promise.resolve();
  let pendingStore: (() => Promise<void>) | undefined;

  const meters = new Map<string, ReturnType<typeof batchMeter>>();
  /** Records metrics of the events that a projection applied. Parked events are not counted. */
  const count = (one: Running, events: number, sinceMs: number): void => {
    const name = nameOf(one);
    const meter = meters.get(name) ?? batchMeter(name);
    meters.set(name, meter);
    meter(events, (performance.now() - sinceMs) / 1_000);
  };

  const storeIdleCheckpoints = async (running: readonly Running[], position: bigint): Promise<void> => {
    const idle = running.filter((one) => one.position === position && one.stored < position);
    storedAtMs = performance.now();
    const checkpoints = idle.map((one) => ({ name: nameOf(one), stored: one.stored }));
    const passed = running.filter((one) => one.position === position);
    await moveIdleCheckpoints(database, checkpoints, position, passed.map(nameOf));
    for (const one of idle) one.stored = position;
  };

  /** Stores the checkpoints after a delay, for the case that no further batch arrives. */
  const scheduleIdleCheckpoints = (running: readonly Running[], position: bigint): void => {
    pendingStore = () =>
      storeIdleCheckpoints(running, position).catch((error: unknown) =>
        log.warn({ err: error }, 'checkpoints of idle projections not stored'),
      );
    timer = setTimeout(() => {
      storing = pendingStore?.() ?? storing;
      pendingStore = undefined;
    }, IDLE_CHECKPOINTS_MS);
    timer.unref();
  };

  const applyEach = async (parts: readonly Part[], position: bigint): Promise<void> => {
    // Every part is awaited, also after a failure: none may still be writing when the session restarts.
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

  const tryOneTransaction = async (
    parts: readonly Part[],
    position: bigint,
    passed: readonly Running[],
  ): Promise<boolean> => {
    const events = parts.reduce((sum, part) => sum + part.events.length, 0);
    const hasParkedStream = parts.some((part) =>
      part.events.some(({ stream }) => part.one.parked.has(stream)),
    );
    if (events > ONE_TRANSACTION_EVENTS_MAX || hasParkedStream) return false;
    try {
      const targets = parts.map(({ one: { target, stored }, events: own }) => ({
        target,
        stored,
        events: own,
      }));
      return await applyInOneTransaction(pipeline, targets, position, passed.map(nameOf));
    } catch (error) {
      if (isTransient(error)) throw error;
      await assertCheckpointsUnmoved(database, parts);
      return false;
    }
  };

  return {
    /** Applies a batch, moves all checkpoints to `position` and notifies readers. */
    apply: async (
      running: readonly Running[],
      events: readonly RecordedEvent[],
      position: bigint,
    ): Promise<void> => {
      clearTimeout(timer);
      pendingStore = undefined;
      // The delayed write and this batch both move checkpoints from an expected position, so they must not
      // overlap.
      await storing;
      const behind = running.filter((one) => one.position < position);
      const parts = behind.map((one) => ({ one, events: eventsOf(one, events) }));
      const busy = parts.filter((part) => part.events.length > 0);
      const since = performance.now();
      const storesIdle = since - storedAtMs >= IDLE_CHECKPOINTS_MS;
      const stored = storesIdle ? parts : busy;
      if (await tryOneTransaction(stored, position, behind)) {
        for (const { one } of stored) one.stored = position;
        for (const one of behind) one.position = position;
        for (const { one, events: own } of busy) count(one, own.length, since);
        if (storesIdle) storedAtMs = performance.now();
        else scheduleIdleCheckpoints(running, position);
        return;
      }
      await applyEach(busy, position);
      // Plans made for small tables do not suit large ones, and autovacuum analyzes the tables only later.
      pipeline.discardPlans();
      for (const one of behind) one.position = position;
      await storeIdleCheckpoints(running, position);
    },
    /** Stores pending checkpoints and stops the delayed writes. */
    end: async (): Promise<void> => {
      clearTimeout(timer);
      await storing;
      await pendingStore?.();
    },
  };
};
