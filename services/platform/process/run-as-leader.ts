import { pause } from '../clock.ts';
import type { Log } from '../logger.ts';
import { type RetryLimits, backoffMs } from '../concurrency/retry.ts';
import { type Lease, LeaseLost, WHOLE, openLeases } from '../postgres/lease/leases.ts';

const RESTART_DELAYS: RetryLimits = {
  attempts: Number.POSITIVE_INFINITY,
  firstDelayMs: 100,
  maxDelayMs: 5_000,
};

/** Runs `run` again until the signal. A run longer than the longest delay resets the backoff. */
export const runWithRestarts = async (options: {
  readonly message: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly run: () => Promise<void>;
}): Promise<void> => {
  const { message, log, signal, run } = options;
  for (let failures = 0; !signal.aborted; ) {
    const startedMs = performance.now();
    try {
      await run();
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ err: error }, message);
      if (performance.now() - startedMs > RESTART_DELAYS.maxDelayMs) failures = 0;
      await pause(backoffMs(failures, RESTART_DELAYS), signal);
      failures += 1;
    }
  }
};

const STANDBY_MS = 1_000;

/**
 * Runs `run` in one process of a kind at a time. `run` must end when its signal is aborted, and starts again when it
 * returns or fails. A process that was stopped for a while notices no loss: its writes prove the lease (`proveLease`),
 * other effects `prove`, which throws `LeaseLost`.
 */
export const runAsLeader = (options: {
  readonly databaseUrl: string;
  readonly kind: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly run: (leading: AbortSignal, lease: Lease, prove: () => Promise<void>) => Promise<void>;
}): Promise<void> => {
  const { databaseUrl, kind, log, signal, run } = options;
  return runWithRestarts({
    message: `${kind} failed; restarting`,
    log,
    signal,
    run: async () => {
      await using leases = await openLeases(databaseUrl);
      while (!signal.aborted) {
        const lease = await leases.acquire({ kind, part: WHOLE });
        if (lease === null) {
          await pause(STANDBY_MS, signal);
          continue;
        }
        log.info({ role: kind, epoch: String(lease.epoch) }, 'leader acquired');
        const leading = AbortSignal.any([signal, lease.lost]);
        try {
          while (!leading.aborted) await run(leading, lease, () => leases.prove(lease));
        } catch (error) {
          if (!(error instanceof LeaseLost)) throw error;
        } finally {
          // Without an answer the lease ends by itself.
          await leases.release(lease).catch(() => undefined);
        }
        if (!signal.aborted) log.warn({ role: kind, epoch: String(lease.epoch) }, 'lease lost');
      }
    },
  });
};
