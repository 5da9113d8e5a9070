import { pause } from '../clock.ts';
import type { Log } from '../logger.ts';
import { openLeases } from '../postgres/lease/leases.ts';
import { type Lease, LeaseLost, WHOLE } from '../postgres/lease/prove-lease.ts';
import { runWithRestarts } from './run-with-restarts.ts';

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
      await using leases = await openLeases(databaseUrl, kind);
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
