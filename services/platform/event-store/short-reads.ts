import {
  outsideTimeBudget,
  TimeUsedUp,
  untilTimeUsedUp,
  withTimeBudget,
} from '../concurrency/time-budget.ts';
import { isAccessDenied, isConnectionFault } from './errors.ts';

/** After a read without an answer the event store is not asked for this time. */
const SILENT_RETRY_MS = 1_000;

/** For work that goes on without the log, from another source. */
export type ShortReads = {
  /** `null` without an answer or access, and at once while that is known. Throws other errors. */
  ask<T>(read: () => Promise<T>): Promise<{ readonly answer: T } | null>;
};

export const createShortReads = (answerMs: number): ShortReads => {
  /** Monotonic milliseconds; `null` while the event store answers. */
  let askAgainAt: number | null = null;
  return {
    ask: async (read) => {
      if (askAgainAt !== null) {
        if (performance.now() < askAgainAt) return null;
        // Other reads do not wait while this one tries the event store again.
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
