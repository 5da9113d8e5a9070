import { pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import type { Worker } from './worker.ts';

/**
 * Milliseconds between two sweeps. They find retries, deliveries whose lease expired, and ids that NATS lost or did not
 * carry because it is gone.
 */
const SWEEP_EVERY_MS = 1_000;

/** Sweeps the due deliveries of all endpoints at intervals, until aborted. Logs errors and goes on. */
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
