import { pause } from './clock.ts';

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
