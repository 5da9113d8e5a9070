import { type BudgetedWork, budgetedWork, timeLeft } from '../concurrency/time-budget.ts';

/**
 * All waits of a request before its append end together, so that it is refused in the time of one call, not of
 * several.
 */

/** A call gets this part at least, because Postgres may have delayed the request. */
const LEAST_PART = 1 / 4;
/** A call that waited for this part without an answer shows a silent server. */
const SILENCE_PART = 1 / 2;

export type AnswerTime = {
  /** Milliseconds of the next call: those left of the request, or of one call without a request. */
  left(): number;
  leftBefore(): number;
  spend(ms: number): void;
  /** After an append that was answered: what follows is another command. */
  begin(): void;
  isSilence(givenMs: number): boolean;
};

/** `withinMs`: milliseconds from the arrival of a request. */
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
