import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Log } from '#platform/logger.ts';
import { batchMeter } from '#platform/telemetry/metrics.ts';
import type { Pipeline } from '#platform/postgres/pipelined-transaction.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { applyEach } from './apply-each.ts';
import { applyInOneTransaction, type Share } from './apply-in-one-transaction.ts';
import { endsSession } from '#application/read-models/failures.ts';
import type { LiveDatabases } from '../dependencies.ts';
import { type Failed, type Move, moveStatement, recordMove } from './move-positions.ts';
import { type Cursor, nameOf, proveRunning, type Running } from './running.ts';

/** Events of a batch. Larger ones use one transaction per projection, in parallel. */
const ONE_TRANSACTION_EVENTS_MAX = 500;
/** After as many events written on other connections, tables may have outgrown the plans of the pipeline. */
const DISCARD_PLANS_AFTER_EVENTS = 2_000;
/** Minimum interval between writes of positions by batches without events. */
const IDLE_POSITIONS_MS = 100;

const eventsOf = (
  { position, prefixes }: Running,
  events: readonly RecordedEvent[],
): readonly RecordedEvent[] =>
  events.filter(
    (event) => event.position > position && prefixes.some((prefix) => event.stream.startsWith(prefix)),
  );

/** Projections that share a reader. `cursor` is `null` if none of them is at it. */
export type Followers = { readonly running: readonly Running[]; readonly cursor: Cursor | null };

type Dispatching = {
  readonly database: Database;
  readonly live: LiveDatabases;
  readonly pipeline: Pipeline;
  readonly log: Log;
  readonly probationFirstMs: number;
};

export const createBatchDispatcher = (
  { database, live, pipeline, log, probationFirstMs }: Dispatching,
  { running, cursor }: Followers,
) => {
  let followed = running;
  let storedAtMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let storing: Promise<void> = Promise.resolve();
  let pendingStore: (() => Promise<void>) | undefined;
  let unplanned = 0;

  const meters = new Map<string, ReturnType<typeof batchMeter>>();
  const count = (one: Running, events: number, sinceMs: number): void => {
    const name = nameOf(one);
    const meter = meters.get(name) ?? batchMeter(name);
    meters.set(name, meter);
    meter(events, (performance.now() - sinceMs) / 1_000);
  };

  /** Stores positions outside a transaction that writes rows. */
  const store = async (move: Move): Promise<void> => {
    const { text, values } = moveStatement(move);
    await database.query({ name: 'move positions', text, values: values as unknown[] });
    recordMove(move);
    storedAtMs = performance.now();
  };

  const moveTo = (position: bigint, passed: readonly Running[], failed: readonly Failed[] = []): Move => ({
    cursor,
    position,
    passed,
    failed,
    applied: new Map(),
  });

  const scheduleStore = (move: Move): void => {
    pendingStore = () =>
      store(move).catch((error: unknown) =>
        log.warn({ err: error }, 'positions after a quiet time not stored'),
      );
    timer = setTimeout(() => {
      storing = pendingStore?.() ?? storing;
      pendingStore = undefined;
    }, IDLE_POSITIONS_MS);
    timer.unref();
  };

  /** Throws `LeaseLost` if another process moved a position: the state in memory is then stale. */
  const assertHeld = async (shares: readonly Share[]): Promise<void> => {
    for (const { one } of shares) await proveRunning(database, nameOf(one), one.row, cursor);
  };

  const tryOneTransaction = async (
    events: readonly RecordedEvent[],
    shares: readonly Share[],
    move: Move,
  ): Promise<boolean> => {
    const hasParkedStream = shares.some((share) =>
      share.events.some(({ stream }) => share.one.parked.has(stream)),
    );
    // A failed projection may fail again, so it must not use the transaction that all readers share.
    const isAlone = shares.some(({ one }) => one.readsAlone);
    if (events.length > ONE_TRANSACTION_EVENTS_MAX || hasParkedStream || isAlone) return false;
    try {
      return await applyInOneTransaction(pipeline, shares, move);
    } catch (error) {
      if (endsSession(error)) throw error;
      await assertHeld(shares);
      log.debug({ reason: (error as Error).message }, 'batch failed; applied to each projection on its own');
      return false;
    }
  };

  /** Advances past a batch without events. The position is stored with the next batch or after a delay. */
  const pass = (position: bigint, behind: readonly Running[]): Promise<void> => {
    for (const one of behind) one.position = position;
    const move = moveTo(
      position,
      followed.filter((one) => one.position === position),
    );
    if (performance.now() - storedAtMs >= IDLE_POSITIONS_MS) return store(move);
    scheduleStore(move);
    return Promise.resolve();
  };

  return {
    /** Returns the projections that failed; this reader drops them. Throws when the database or the lease is lost. */
    apply: async (events: readonly RecordedEvent[], position: bigint): Promise<readonly Failed[]> => {
      clearTimeout(timer);
      pendingStore = undefined;
      // The delayed write and this batch start from the same stored position, so they must not overlap.
      await storing;
      const behind = followed.filter((one) => one.position < position);
      const busy = behind
        .map((one) => ({ one, events: eventsOf(one, events) }))
        .filter((share) => share.events.length > 0);
      if (busy.length === 0) {
        await pass(position, behind);
        return [];
      }
      const since = performance.now();
      const applied = new Map(busy.map(({ one, events: own }) => [nameOf(one), own.length]));
      const move = { ...moveTo(position, behind), applied };
      if (await tryOneTransaction(events, busy, move)) {
        recordMove(move);
        storedAtMs = performance.now();
        for (const { one, events: own } of busy) {
          one.failures = 0;
          count(one, own.length, since);
        }
        return [];
      }
      const isSmall = events.length <= ONE_TRANSACTION_EVENTS_MAX && busy.every(({ one }) => !one.readsAlone);
      const applying = { database: isSmall ? live.hurried : live.patient, log, probationFirstMs, cursor };
      const failed = await applyEach({ ...applying, shares: busy, position, count });
      unplanned += events.length;
      if (unplanned >= DISCARD_PLANS_AFTER_EVENTS) {
        // Plans for small tables do not suit large ones, and autovacuum analyzes the tables only later.
        pipeline.discardPlans();
        unplanned = 0;
      }
      const left = new Set(failed.map(({ one }) => one));
      await store(
        moveTo(
          position,
          behind.filter((one) => !left.has(one)),
          failed,
        ),
      );
      followed = followed.filter((one) => !left.has(one));
      return failed;
    },
    resume: (one: Running): void => {
      followed = [...followed, one];
    },
    end: async (): Promise<void> => {
      clearTimeout(timer);
      await storing;
      await pendingStore?.();
    },
  };
};
