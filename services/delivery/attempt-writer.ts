import { type Clock, pause } from '#platform/clock.ts';
import { cancelDeliveries } from '#application/delivery-outbox/cancel.ts';
import { holdsClaim } from '#application/delivery-outbox/claim.ts';
import {
  type FinishedAttempt,
  pausedEndpoints,
  recordAttempts,
} from '#application/delivery-outbox/record-attempts.ts';
import type { Log } from '#platform/logger.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { retry, type RetryLimits } from '#platform/concurrency/retry.ts';
import { droppedOutcomes } from '#platform/telemetry/metrics.ts';

/** The first attempt is written at once. Further ones are gathered, because a transaction costs more than its rows. */
const ATTEMPTS_PER_WRITE_MAX = 1_000;
const GATHER_MS = 10;
/** Without a limit, so that an outage of Postgres loses no sent attempt while this process lives. */
const WRITE_RETRIES: RetryLimits = {
  attempts: Number.POSITIVE_INFINITY,
  firstDelayMs: 50,
  maxDelayMs: 2_000,
};

type Cancellation = { readonly deliveryId: string; readonly cancelled: string };

export type AttemptResult = { readonly attempt: FinishedAttempt } | Cancellation;

export type AttemptWriter = {
  add(result: AttemptResult): void;
  close(): Promise<void>;
};

export const createAttemptWriter = (
  dependencies: {
    readonly pool: Database;
    readonly clock: Clock;
    /** `null` for the clock of Postgres. */
    readonly claimNow: () => Date | null;
    readonly log: Log;
    readonly workerId: string;
    readonly signal: AbortSignal;
  },
  callbacks: {
    readonly written: (deliveryIds: readonly string[]) => void;
    /** Endpoints that take no delivery for `ENDPOINT_PAUSE_MS`. */
    readonly paused: (endpoints: readonly string[]) => void;
  },
): AttemptWriter => {
  const { pool, clock, claimNow, log, workerId, signal } = dependencies;
  const queue: AttemptResult[] = [];
  const closing = new AbortController();
  let running: Promise<void> | undefined;

  const untilWritten = (count: number, write: (nth: number) => Promise<void>): Promise<void> => {
    const logAndRetry = (error: unknown): boolean => {
      log.warn({ err: error, attempts: count }, 'recording attempts failed; retrying');
      return true;
    };
    return retry(WRITE_RETRIES, logAndRetry, write, signal);
  };

  /** A repeated write finds those recorded whose answer was lost, so only the first one counts what it drops. */
  const record = async (attempts: readonly FinishedAttempt[], nth: number): Promise<void> => {
    const dropped = await recordAttempts(pool, workerId, attempts, claimNow());
    if (dropped.length === 0 || nth > 0) return;
    droppedOutcomes.inc(dropped.length);
    log.warn({ delivery_ids: dropped }, 'outcomes dropped: claims lost, or recorded before');
  };

  const cancel = ({ deliveryId, cancelled }: Cancellation): Promise<void> =>
    inTransaction(pool, async (client) => {
      if (await holdsClaim(client, workerId, deliveryId))
        await cancelDeliveries(client, [deliveryId], cancelled, clock.now());
    });

  /** Each part repeats until it succeeds. Logs what is left when the signal is aborted. */
  const write = async (batch: readonly AttemptResult[]): Promise<void> => {
    const attempts = batch.flatMap((one) => ('attempt' in one ? [one.attempt] : []));
    let left = batch.length;
    try {
      await untilWritten(attempts.length, (nth) => record(attempts, nth));
      left -= attempts.length;
      for (const one of batch) {
        if (!('cancelled' in one)) continue;
        await untilWritten(1, () => cancel(one));
        left -= 1;
      }
    } catch (error) {
      log.error({ err: error, attempts: left }, 'attempts not recorded; the deliveries will be sent again');
    }
  };

  const run = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.splice(0, ATTEMPTS_PER_WRITE_MAX);
      await write(batch);
      callbacks.written(batch.map((one) => ('attempt' in one ? one.attempt.deliveryId : one.deliveryId)));
      const attempts = batch.flatMap((one) => ('attempt' in one ? [one.attempt] : []));
      const paused = pausedEndpoints(attempts).map(({ endpoint }) => endpoint);
      if (paused.length > 0) callbacks.paused(paused);
      if (queue.length < ATTEMPTS_PER_WRITE_MAX) await pause(GATHER_MS, closing.signal);
    }
    running = undefined;
  };

  return {
    add: (result) => {
      queue.push(result);
      running ??= run();
    },
    close: async () => {
      closing.abort();
      await running;
    },
  };
};
