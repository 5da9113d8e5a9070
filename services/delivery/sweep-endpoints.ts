import { pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import type { Worker } from './worker.ts';

/** Sweeps find retries, expired leases, and ids that NATS lost. */
const SWEEP_EVERY_MS = 1_000;

/** Until aborted. Logs errors and goes on. */
export const sweepEndpoints = async (worker: Worker, log: Log, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    try {
      await worker.sweep();
    } catch (error) {
      if (!signal.aborted) log.warn({ reason: (error as Error).message }, 'sweep failed; retrying');
    }
    await pause(SWEEP_EVERY_MS, signal);
  }
};
