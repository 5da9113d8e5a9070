import { pause } from '../clock.ts';
import type { Log } from '../logger.ts';
import { openLeases } from '../postgres/lease/leases.ts';
import { type Lease, LeaseLost, WHOLE } from '../postgres/lease/prove-lease.ts';
import { runWithRestarts } from './run-with-restarts.ts';

/** Milliseconds between two attempts of a standby to take the lease. */
const STANDBY_MS = 1_000;

/**
 * Leader election: of all processes that call this with one kind, one at a time runs `run`; the others are standbys. The
 * leader is the process that holds the lease of that kind. `run` must end when its signal is aborted: the process is then
 * asked to stop, or the lease is lost. A process that was stopped for a while notices neither: its writes prove the lease
 * (`proveLease`), and fail. What it does elsewhere and would disturb another leader, it must prove by `prove`, which throws
 * `LeaseLost`. `run` starts again when it returns or fails; after `LeaseLost` this process is a standby.
 */
export const runAsLeader = (options: {
  readonly databaseUrl: string;
  /** Kind of the lease, one for each role. */
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
          // Without an answer of the server the lease ends by itself.
          await leases.release(lease).catch(() => undefined);
        }
        if (!signal.aborted) log.warn({ role: kind, epoch: String(lease.epoch) }, 'lease lost');
      }
    },
  });
};
