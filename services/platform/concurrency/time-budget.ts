import { AsyncLocalStorage } from 'node:async_hooks';
import { z } from 'zod';

/**
 * One time for all waits of a request. It starts when the request arrives, and each wait takes the lesser of its own limit
 * and what is left. Waits find it in their asynchronous context, so that no function between passes it on. Work without a
 * budget, such as that of the background, has the limits of its waits only.
 */

/** Milliseconds of a request, from its arrival to its reply. */
export const REQUEST_BUDGET_MS = 10_000;
/** Milliseconds before the end of that time at which waits end, so that the client reads the reply within it. */
const REPLY_MARGIN_MS = 500;
const SHORTEST_MS = 1_000;
const LONGEST_MS = 20_000;

/** Setting of the processes that answer requests. */
export const requestBudgetSettings = {
  REQUEST_BUDGET_MS: z.coerce
    .number()
    .int()
    .min(SHORTEST_MS)
    .max(LONGEST_MS)
    .default(REQUEST_BUDGET_MS)
    .describe(
      'Milliseconds of a request in all: each of its waits gets the lesser of its own limit and what is left. Then it is answered with 503 and `retry-after`.',
    ),
};

/** Returns the milliseconds for the waits of a request. */
export const waitsOf = (requestBudgetMs: number): number => requestBudgetMs - REPLY_MARGIN_MS;

/** Thrown by a wait of a request whose time is used up. It says nothing about the server that was waited for. */
export class TimeUsedUp extends Error {
  constructor() {
    super('The time of the request is used up.');
    this.name = 'TimeUsedUp';
  }
}

/** A request, or other work with a budget. The budgets within it share it. */
export type BudgetedWork = {
  /** Time of the monotonic clock in milliseconds at which its budget began. */
  readonly startedAt: number;
};

type Budget = {
  readonly of: BudgetedWork;
  /** Time of the monotonic clock in milliseconds. */
  endsAt: number;
  /** False once its work has ended. What that work left in the background has no budget. */
  isOpen: boolean;
  /** Reject the waits of this request, also those that have ended. */
  readonly waits: ((error: TimeUsedUp) => void)[];
};

const budgets = new AsyncLocalStorage<Budget | undefined>();

const current = (): Budget | undefined => {
  const budget = budgets.getStore();
  return budget?.isOpen === true ? budget : undefined;
};

/**
 * Runs `work` with a budget of `ms`, or what is left of the one around it. `onUsedUp` is called at its end, before the waits
 * in progress throw `TimeUsedUp`.
 */
export const withTimeBudget = async <T>(
  ms: number,
  work: () => Promise<T>,
  onUsedUp?: () => void,
): Promise<T> => {
  const now = performance.now();
  const budget: Budget = {
    of: current()?.of ?? { startedAt: now },
    endsAt: Math.min(now + ms, current()?.endsAt ?? Number.POSITIVE_INFINITY),
    isOpen: true,
    waits: [],
  };
  const timer = setTimeout(
    () => {
      // Timers are early by up to a millisecond. A wait that begins now would have no end.
      budget.endsAt = Math.min(budget.endsAt, performance.now());
      onUsedUp?.();
      for (const reject of budget.waits) reject(new TimeUsedUp());
      budget.waits.length = 0;
    },
    Math.max(0, budget.endsAt - now),
  );
  try {
    return await budgets.run(budget, work);
  } finally {
    budget.isOpen = false;
    clearTimeout(timer);
  }
};

/** Runs work that does not belong to the request alone, or that must be done after its time: it has its own limits only. */
export const outsideTimeBudget = <T>(work: () => T): T => budgets.run(undefined, work);

/** Returns the lesser of a wait's own limit and what is left, in milliseconds. */
export const timeLeft = (ownMs: number): number => {
  const budget = current();
  if (budget === undefined) return ownMs;
  return Math.max(0, Math.min(ownMs, budget.endsAt - performance.now()));
};

/** False after the end of the budget. */
export const hasTime = (): boolean => timeLeft(Number.POSITIVE_INFINITY) > 0;

/** Throws `TimeUsedUp` before work that must not begin after the end of the budget. */
export const requireTime = (): void => {
  if (!hasTime()) throw new TimeUsedUp();
};

/** True inside a budget that is not over. */
export const hasTimeBudget = (): boolean => current() !== undefined;

/** Returns the request, or other work, whose budget this is; `undefined` without one. */
export const budgetedWork = (): BudgetedWork | undefined => current()?.of;

/** Returns a signal that aborts at the end of the budget; `undefined` without one. */
export const timeSignal = (): AbortSignal | undefined => {
  const leftMs = timeLeft(Number.POSITIVE_INFINITY);
  return Number.isFinite(leftMs) ? AbortSignal.timeout(Math.ceil(leftMs)) : undefined;
};

/**
 * Waits for a promise, at most until the end of the budget. Throws `TimeUsedUp` then; the work behind the promise goes on and
 * ends by its own limits.
 */
export const untilTimeUsedUp = <T>(promise: Promise<T>): Promise<T> => {
  const budget = current();
  if (budget === undefined) return promise;
  return new Promise((resolve, reject) => {
    if (budget.endsAt <= performance.now()) reject(new TimeUsedUp());
    // Rejecting a wait that has ended does nothing, so that none is removed: a request has few, and every one costs.
    else budget.waits.push(reject);
    void promise.then(resolve, reject);
  });
};
