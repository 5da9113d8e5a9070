import { pause } from '../clock.ts';
import type { Log } from '../logger.ts';

export type RetryLimits = {
  readonly attempts: number;
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
};

/** Delay before the next attempt in ms: exponential backoff with full jitter, so that callers do not retry together. */
export const backoffMs = (attempt: number, limits: RetryLimits): number =>
  Math.random() * Math.min(limits.maxDelayMs, limits.firstDelayMs * 2 ** attempt);

/** Runs `run` again after an error that is `retryable`, up to the limit; then throws the last error. */
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

/** Retries without end until a server answers, at most 5 s apart. */
export const SERVER_RETRIES: RetryLimits = {
  attempts: Number.POSITIVE_INFINITY,
  firstDelayMs: 100,
  maxDelayMs: 5_000,
};

/** Opens a connection, and retries with backoff until it succeeds. Logs each failed attempt with its reason. */
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
