import type { RecordedEvent } from '#contracts/events/event.ts';
import { createSemaphore } from '#platform/concurrency/queues.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { probationAfter } from '../control/probation.ts';
import type { Share } from './apply-in-one-transaction.ts';
import { endsSession } from '#application/read-models/failures.ts';
import type { Failed } from './move-positions.ts';
import { applyOrPark, logParked } from './park-stream.ts';
import { type Cursor, nameOf, ownTarget, proveRunning, type Running } from './running.ts';

/** First and longest delay before a failed batch is retried. */
const RETRY_FIRST_MS = 1_000;
const RETRY_MAX_MS = 60_000;

/** Maximum concurrent batches. Leaves two connections of the pool for projections that read alone. */
const SHARES_AT_ONCE = 6;

export const retryDelayMs = (failures: number): number =>
  Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** Math.min(failures - 1, 10));

type Options = {
  readonly database: Database;
  readonly log: Log;
  readonly probationFirstMs: number;
  readonly cursor: Cursor | null;
  readonly shares: readonly Share[];
  readonly position: bigint;
  readonly count: (one: Running, events: number, sinceMs: number) => void;
};

/** Takes fewer events after failures, because the server may have cancelled a statement for the size of its batch. */
const applyShare = async (
  { database, log, cursor, position }: Options,
  { one, events }: Share,
): Promise<number> => {
  const size = Math.max(1, events.length >> one.failures);
  let applied = 0;
  for (let from = 0; from < events.length; from += size) {
    const some: readonly RecordedEvent[] = events.slice(from, from + size);
    const upTo = from + size < events.length ? (some.at(-1)?.position ?? position) : position;
    applied += await applyOrPark(database, ownTarget(one, cursor), one.parked, some, upTo, {
      prove: (client) => proveRunning(client, nameOf(one), one.row, cursor),
      onPoison: logParked(log, nameOf(one)),
    });
  }
  return applied;
};

/** Returns the projections that failed for a reason of their own. Throws when the database or the lease is lost. */
export const applyEach = async (options: Options): Promise<readonly Failed[]> => {
  const { log, probationFirstMs, shares, position, count } = options;
  const failed: Failed[] = [];
  const turns = createSemaphore(SHARES_AT_ONCE);
  /** Aborted by the error that ends the session, so that waiting shares do not start. */
  const ended = new AbortController();
  // Awaits every share, also after a failure: none may still write when the session restarts.
  const outcomes = await Promise.allSettled(
    shares.map(async (share) => {
      await turns.acquire();
      const sinceMs = performance.now();
      const { one } = share;
      try {
        ended.signal.throwIfAborted();
        count(one, await applyShare(options, share), sinceMs);
        one.failures = 0;
        one.position = position;
      } catch (error) {
        if (endsSession(error)) ended.abort(error);
        if (ended.signal.aborted) throw error;
        one.failures += 1;
        one.probation = probationAfter(one.probation, one.readsAlone, performance.now(), probationFirstMs);
        one.readsAlone = true;
        const delayMs = retryDelayMs(one.failures);
        one.retryAtMs = performance.now() + delayMs;
        const reason = (error as Error).message;
        log.error(
          { projection: nameOf(one), failures: one.failures, retry_ms: delayMs, reason },
          'projection failed',
        );
        failed.push({ one, error: reason, delayMs });
      } finally {
        turns.release();
      }
    }),
  );
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return failed;
};
