import { pause } from '../clock.ts';
import type { Log } from '../logger.ts';
import { backoffMs, type RetryLimits } from '../concurrency/retry.ts';

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
