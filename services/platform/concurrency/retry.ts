import { pause } from '../clock.ts';
import type { Log } from '../logger.ts';

export type RetryLimits = {
  readonly attempts: number;
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
};

/** Exponential backoff with full jitter, in milliseconds, so that callers do not retry together. */
export const backoffMs = (attempt: number, limits: RetryLimits): number =>
  Math.random() * Math.min(limits.maxDelayMs, limits.firstDelayMs * 2 ** attempt);

/** Throws the last error when the limit is reached or the error is not `retryable`. */
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

export const SERVER_RETRIES: RetryLimits = {
  attempts: Number.POSITIVE_INFINITY,
  firstDelayMs: 100,
  maxDelayMs: 5_000,
};

export const untilServerAnswers = <T>(
  log: Log,
  signal: AbortSignal,
  what: string,
  open: () => Promise<T>,
): Promise<T> =>
  retry(
    SERVER_RETRIES,
    () => true,
    async (attempt) => {
      try {
        return await open();
      } catch (error) {
        const { message, code } = error as { message?: string; code?: unknown };
        if (!signal.aborted)
          log.warn({ waiting_for: what, attempt, reason: message || code }, 'waiting for a server');
        throw error;
      }
    },
    signal,
  );
