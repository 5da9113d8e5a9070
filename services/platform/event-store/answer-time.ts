import { type BudgetedWork, budgetedWork, timeLeft } from '../concurrency/time-budget.ts';

/**
 * The time that a request waits for the event store. It begins when the request arrives, so that all waits before the append
 * end together: without an answer, a command is refused in the time of one call, not in the sum of several.
 */

/** Part of the time that each call has at least. A request may come late to it, because Postgres is slow. */
const LEAST_PART = 1 / 4;
/** Part of the time from which a call without an answer counts as silence of the server. */
const SILENCE_PART = 1 / 2;

export type AnswerTime = {
  /** Returns the milliseconds of the next call: those left of the request, or those of one call without a request. */
  left(): number;
  /** Returns the milliseconds to wait for other work on the event store, before a call of one's own. */
  leftBefore(): number;
  /** Takes what such a wait took from the least time of the call. */
  spend(ms: number): void;
  /** Begins the time of the request again. For an append that was answered: what follows is another command. */
  begin(): void;
  /** True when a call that had `givenMs` and no answer says something about the server. */
  isSilence(givenMs: number): boolean;
};

/** Creates the times of all requests. `withinMs`: milliseconds from the arrival of a request. */
export const createAnswerTime = (withinMs: number): AnswerTime => {
  const leastMs = LEAST_PART * withinMs;
  const begun = new WeakMap<BudgetedWork, number>();
  const spent = new WeakMap<BudgetedWork, number>();
  const left = (): number => {
    const request = budgetedWork();
    if (request === undefined) return withinMs;
    const since = begun.get(request) ?? request.startedAt;
    const least = Math.max(leastMs - (spent.get(request) ?? 0), leastMs / 2);
    return timeLeft(Math.max(since + withinMs - performance.now(), least));
  };
  return {
    left,
    leftBefore: () => Math.max(left() - leastMs, timeLeft(leastMs / 2)),
    spend: (ms) => {
      const request = budgetedWork();
      if (request !== undefined) spent.set(request, ms);
    },
    begin: () => {
      const request = budgetedWork();
      if (request === undefined) return;
      begun.set(request, performance.now());
      spent.delete(request);
    },
    isSilence: (givenMs) => givenMs >= SILENCE_PART * withinMs,
  };
};
