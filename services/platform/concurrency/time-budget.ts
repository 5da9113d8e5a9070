import { AsyncLocalStorage } from 'node:async_hooks';
import { z } from 'zod';

/** Waits find the time of their request in the asynchronous context, so that no function between passes it on. */

export const REQUEST_BUDGET_MS = 10_000;
/** Waits end before the request does, so that the client reads the reply in time. */
const REPLY_MARGIN_MS = 500;
const SHORTEST_MS = 1_000;
const LONGEST_MS = 20_000;

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

export const waitsOf = (requestBudgetMs: number): number => requestBudgetMs - REPLY_MARGIN_MS;

/** Thrown when the time of a request is over. The server that was waited for is not at fault. */
export class TimeUsedUp extends Error {
  constructor() {
    super('The time of the request is used up.');
    this.name = 'TimeUsedUp';
  }
}

/** Request, or other work with a budget; inner budgets share it. */
export type BudgetedWork = {
  /** Monotonic milliseconds. */
  readonly startedAt: number;
};

type Budget = {
  readonly of: BudgetedWork;
  /** Monotonic milliseconds. */
  endsAt: number;
  /** False after the work has ended: what it left in the background has no budget. */
  isOpen: boolean;
  /** Reject the waits of this request, also those that have ended. */
  readonly waits: ((error: TimeUsedUp) => void)[];
};

const budgets = new AsyncLocalStorage<Budget | undefined>();

const current = (): Budget | undefined => {
  const budget = budgets.getStore();
  return budget?.isOpen === true ? budget : undefined;
};

/** Takes at most what is left of the budget around it. Calls `onUsedUp` before the waits throw `TimeUsedUp`. */
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

/** For work shared by requests, or done after the time of one: only its own limits apply. */
export const outsideTimeBudget = <T>(work: () => T): T => budgets.run(undefined, work);

/** The lesser of a wait's own limit and what is left, in milliseconds. */
export const timeLeft = (ownMs: number): number => {
  const budget = current();
  if (budget === undefined) return ownMs;
  return Math.max(0, Math.min(ownMs, budget.endsAt - performance.now()));
};

export const hasTime = (): boolean => timeLeft(Number.POSITIVE_INFINITY) > 0;

/** Throws `TimeUsedUp` before work that must not begin late. */
export const requireTime = (): void => {
  if (!hasTime()) throw new TimeUsedUp();
};

export const hasTimeBudget = (): boolean => current() !== undefined;

export const budgetedWork = (): BudgetedWork | undefined => current()?.of;

/** Aborts at the end of the budget; `undefined` without one. */
export const timeSignal = (): AbortSignal | undefined => {
  const leftMs = timeLeft(Number.POSITIVE_INFINITY);
  return Number.isFinite(leftMs) ? AbortSignal.timeout(Math.ceil(leftMs)) : undefined;
};

/** Throws `TimeUsedUp` at the end of the budget; the work behind the promise goes on. */
export const untilTimeUsedUp = <T>(promise: Promise<T>): Promise<T> => {
  const budget = current();
  if (budget === undefined) return promise;
  return new Promise((resolve, reject) => {
    if (budget.endsAt <= performance.now()) reject(new TimeUsedUp());
    // Rejecting a wait that has ended does nothing, and removing waits would cost each request.
    else budget.waits.push(reject);
    void promise.then(resolve, reject);
  });
};
