import { pause } from './clock.ts';
import type { Log } from './log.ts';

export type RetryLimits = {
  readonly attempts: number;
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
};

/** Doubling delay with full jitter, so that many callers do not come back together. */
export const backoffMs = (attempt: number, limits: RetryLimits): number =>
  Math.random() * Math.min(limits.maxDelayMs, limits.firstDelayMs * 2 ** attempt);

/** Tries again while `retryable` says so, up to the limit; then throws the last error. */
export const retry = async <T>(
  limits: RetryLimits,
  retryable: (error: unknown) => boolean,
  run: (attempt: number) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> => {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await run(attempt);
    } catch (error) {
      if (attempt + 1 >= limits.attempts || signal?.aborted || !retryable(error)) throw error;
      await pause(backoffMs(attempt, limits), signal);
    }
  }
};

/** A process waits this long for its servers when it starts, then gives up loudly. */
const START_RETRIES: RetryLimits = { attempts: 60, firstDelayMs: 100, maxDelayMs: 2_000 };

/** Opens what needs a server, waiting with back-off while the server is not there yet. */
export const untilServersAnswer = <T>(log: Log, signal: AbortSignal, open: () => Promise<T>): Promise<T> =>
  retry(
    START_RETRIES,
    () => true,
    async (attempt) => {
      try {
        return await open();
      } catch (error) {
        log.warn({ attempt, reason: (error as Error).message }, 'a server does not answer yet');
        throw error;
      }
    },
    signal,
  );
