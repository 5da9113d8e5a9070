import type { Log } from '#platform/logger.ts';
import { retryDelayMs } from '../apply/apply-each.ts';
import { endsSession } from '#application/read-models/failures.ts';

/** Jobs with exclusive tables: swap, or retry of parked events. They continue across cycles; disposal awaits them. */
export type ExclusiveJobs = AsyncDisposable & {
  running(): readonly string[];
  /** True after a failed job until its next attempt is due. */
  isPostponed(name: string): boolean;
  /** A failure concerns this projection alone, unless its error ends the session. */
  start(name: string, job: () => Promise<void>): void;
  check(): void;
};

type Postponed = { readonly failures: number; readonly untilMs: number };

export const createExclusiveJobs = (
  log: Log,
  signal: AbortSignal,
  onEnd: (name: string) => void,
): ExclusiveJobs => {
  const running = new Map<string, Promise<void>>();
  const postponed = new Map<string, Postponed>();
  let ending: unknown;

  const fail = (name: string, error: unknown): void => {
    if (signal.aborted) return;
    if (endsSession(error)) {
      ending ??= error;
      return;
    }
    const failures = (postponed.get(name)?.failures ?? 0) + 1;
    const delayMs = retryDelayMs(failures);
    postponed.set(name, { failures, untilMs: performance.now() + delayMs });
    const reason = (error as Error).message;
    log.error({ projection: name, failures, retry_ms: delayMs, reason }, 'job of a projection postponed');
  };

  const run = async (name: string, job: () => Promise<void>): Promise<void> => {
    try {
      await job();
      postponed.delete(name);
    } catch (error) {
      fail(name, error);
    } finally {
      running.delete(name);
      onEnd(name);
    }
  };

  return {
    running: () => [...running.keys()],
    isPostponed: (name) => (postponed.get(name)?.untilMs ?? 0) > performance.now(),
    start: (name, job) => void running.set(name, run(name, job)),
    check: () => {
      if (ending !== undefined) throw ending;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(running.values());
    },
  };
};
