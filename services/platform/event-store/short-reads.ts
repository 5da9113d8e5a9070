import {
  outsideTimeBudget,
  TimeUsedUp,
  untilTimeUsedUp,
  withTimeBudget,
} from '../concurrency/time-budget.ts';
import { isAccessDenied, isConnectionFault } from './errors.ts';

/** Milliseconds after a read without an answer in which the event store is not asked. Then one read tries it again. */
const SILENT_RETRY_MS = 1_000;

/** Reads of the log for work that goes on without it, from another source. */
export type ShortReads = {
  /**
   * Runs a read. Returns `null` when the event store does not answer in time or refuses the user, and at once while it is known to
   * do so. Throws the other errors of the read.
   */
  ask<T>(read: () => Promise<T>): Promise<{ readonly answer: T } | null>;
};

/** Creates the short reads of one purpose. `answerMs`: milliseconds in which the event store must answer. */
export const createShortReads = (answerMs: number): ShortReads => {
  /** Monotonic milliseconds. `null` while the event store answers. */
  let askAgainAt: number | null = null;
  return {
    ask: async (read) => {
      if (askAgainAt !== null) {
        if (performance.now() < askAgainAt) return null;
        // The other reads do not wait for this one, which tries the event store again.
        askAgainAt = performance.now() + Math.max(answerMs, SILENT_RETRY_MS);
      }
      try {
        const answer = await outsideTimeBudget(() => withTimeBudget(answerMs, () => untilTimeUsedUp(read())));
        askAgainAt = null;
        return { answer };
      } catch (error) {
        const isAway = error instanceof TimeUsedUp || isConnectionFault(error) || isAccessDenied(error);
        if (!isAway) throw error;
        askAgainAt = performance.now() + SILENT_RETRY_MS;
        return null;
      }
    },
  };
};
