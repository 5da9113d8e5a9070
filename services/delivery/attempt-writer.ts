import { type Clock, pause } from '#platform/clock.ts';
import { cancelDeliveries } from '#application/delivery-outbox/cancel.ts';
import { settle, type SettledAttempt } from '#application/delivery-outbox/record-attempts.ts';
import type { Log } from '#platform/logger.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { retry, type RetryLimits } from '#platform/concurrency/retry.ts';

/**
 * Attempts written by one transaction. The first is written at once; then as many gather as come in this time, since
 * a transaction costs more than what is in it.
 */
const SETTLED_TOGETHER_MAX = 1_000;
const GATHER_MS = 20;
/** What was sent is not forgotten because Postgres is away: it is tried for as long as this process lives. */
const SETTLE_RETRIES: RetryLimits = {
  attempts: Number.POSITIVE_INFINITY,
  firstDelayMs: 50,
  maxDelayMs: 2_000,
};

/** What came of a claimed delivery. */
export type Settled =
  | { readonly attempt: SettledAttempt }
  | { readonly deliveryId: string; readonly cancelled: string };

export type SettleQueue = {
  add(settled: Settled): void;
  /** Writes what is left, or gives up when the signal is aborted. */
  close(): Promise<void>;
};

export const openSettleQueue = (
  dependencies: {
    readonly pool: Database;
    readonly clock: Clock;
    readonly log: Log;
    readonly signal: AbortSignal;
  },
  written: (deliveryIds: readonly string[]) => void,
): SettleQueue => {
  const { pool, clock, log, signal } = dependencies;
  const queue: Settled[] = [];
  const closing = new AbortController();
  let running: Promise<void> | undefined;

  const write = async (batch: readonly Settled[]): Promise<void> => {
    await settle(
      pool,
      batch.flatMap((one) => ('attempt' in one ? [one.attempt] : [])),
    );
    for (const one of batch) {
      if (!('cancelled' in one)) continue;
      await inTransaction(pool, (client) =>
        cancelDeliveries(client, [one.deliveryId], one.cancelled, clock.now()),
      );
    }
  };

  const run = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.splice(0, SETTLED_TOGETHER_MAX);
      const tellAndRetry = (error: unknown): boolean => {
        log.warn({ err: error, attempts: batch.length }, 'attempts could not be written down; trying again');
        return true;
      };
      try {
        await retry(SETTLE_RETRIES, tellAndRetry, () => write(batch), signal);
      } catch (error) {
        log.error(
          { err: error, attempts: batch.length },
          'attempts were not written down; they are made again',
        );
      }
      written(batch.map((one) => ('attempt' in one ? one.attempt.deliveryId : one.deliveryId)));
      if (queue.length < SETTLED_TOGETHER_MAX) await pause(GATHER_MS, closing.signal);
    }
    running = undefined;
  };

  return {
    add: (settled) => {
      queue.push(settled);
      running ??= run();
    },
    close: async () => {
      closing.abort();
      await running;
    },
  };
};
