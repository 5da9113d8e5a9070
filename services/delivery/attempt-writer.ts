import { pause } from '#platform/clock.ts';
import { type FinishedAttempt, recordAttempts } from '#application/delivery-outbox/record-attempts.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { retry, type RetryLimits } from '#platform/concurrency/retry.ts';
import { droppedOutcomes } from '#platform/telemetry/metrics.ts';

/** The first attempt is written at once. Further ones are gathered, because a transaction costs more than its rows. */
const ATTEMPTS_PER_WRITE_MAX = 1_000;
const GATHER_MS = 50;
/** While an endpoint waits for its places: an attempt keeps its place until it is written. */
const GATHER_AWAITED_MS = 10;
/** Without a limit, so that an outage of Postgres loses no sent attempt while this process lives. */
const WRITE_RETRIES: RetryLimits = {
  attempts: Number.POSITIVE_INFINITY,
  firstDelayMs: 50,
  maxDelayMs: 2_000,
};

export type AttemptWriter = {
  add(attempt: FinishedAttempt): void;
  close(): Promise<void>;
};

export const createAttemptWriter = (
  dependencies: {
    readonly pool: Database;
    /** `null` for the clock of Postgres. */
    readonly claimNow: () => Date | null;
    readonly log: Log;
    readonly workerId: string;
    readonly signal: AbortSignal;
  },
  callbacks: {
    readonly written: (attempts: readonly FinishedAttempt[]) => void;
    readonly isAwaited: () => boolean;
  },
): AttemptWriter => {
  const { pool, claimNow, log, workerId, signal } = dependencies;
  const queue: FinishedAttempt[] = [];
  const closing = new AbortController();
  let running: Promise<void> | undefined;

  /** A repeated write finds those recorded whose answer was lost, so only the first one counts what it drops. */
  const record = async (attempts: readonly FinishedAttempt[], nth: number): Promise<void> => {
    const dropped = await recordAttempts(pool, workerId, attempts, claimNow());
    if (dropped.length === 0 || nth > 0) return;
    droppedOutcomes.inc(dropped.length);
    log.warn({ delivery_ids: dropped }, 'outcomes dropped: claims lost, or recorded before');
  };

  /** Repeats until it succeeds. Logs what is left when the signal is aborted. */
  const write = async (attempts: readonly FinishedAttempt[]): Promise<void> => {
    const logAndRetry = (error: unknown): boolean => {
      log.warn({ err: error, attempts: attempts.length }, 'recording attempts failed; retrying');
      return true;
    };
    try {
      await retry(WRITE_RETRIES, logAndRetry, (nth) => record(attempts, nth), signal);
    } catch (error) {
      const left = { err: error, attempts: attempts.length };
      log.error(left, 'attempts not recorded; the deliveries will be sent again');
    }
  };

  const run = async (): Promise<void> => {
    while (queue.length > 0) {
      const attempts = queue.splice(0, ATTEMPTS_PER_WRITE_MAX);
      await write(attempts);
      callbacks.written(attempts);
      if (queue.length < ATTEMPTS_PER_WRITE_MAX)
        await pause(callbacks.isAwaited() ? GATHER_AWAITED_MS : GATHER_MS, closing.signal);
    }
    running = undefined;
  };

  return {
    add: (attempt) => {
      queue.push(attempt);
      running ??= run();
    },
    close: async () => {
      closing.abort();
      await running;
    },
  };
};
