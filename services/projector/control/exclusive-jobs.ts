import type { Log } from '#platform/logger.ts';
import { retryDelayMs } from '../apply/apply-each.ts';
import { endsSession } from '../apply/failures.ts';

/**
 * Jobs that need the tables of a projection for themselves: its swap, or a retry of its parked events. A job continues across
 * cycles, and no cycle waits for it. Disposal waits until all jobs have ended.
 */
export type ExclusiveJobs = AsyncDisposable & {
  /** Names of the projections whose job runs. */
  running(): readonly string[];
  /** True after a job of the projection failed, until its next attempt is due. */
  isPostponed(name: string): boolean;
  /** Starts the job of a projection. One that fails concerns its projection alone, unless its error ends the session. */
  start(name: string, job: () => Promise<void>): void;
  /** Throws the error of a job that ends the session. */
  check(): void;
};

type Postponed = { readonly failures: number; readonly untilMs: number };

/** Creates the jobs of a session. `onEnd` is called when a job has ended. */
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
