import {
  type BudgetedWork,
  budgetedWork,
  timeLeft,
  hasTime,
  requireTime,
  untilTimeUsedUp,
} from '../concurrency/time-budget.ts';
import { EventStoreBusy, EventStoreSilent, isConnectionFault, withTimeout } from './errors.ts';
import { retry, type RetryLimits } from '../concurrency/retry.ts';

/** All waits of a request before its append end together: it is refused in the time of one call. */

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

const APPEND_TIMEOUT_MS = 10_000;
/** The same event ids make a repeated append idempotent. */
const CONNECTION_RETRIES: RetryLimits = { attempts: 8, firstDelayMs: 50, maxDelayMs: 3_000 };
const REQUEST_RETRIES: RetryLimits = { attempts: 50, firstDelayMs: 50, maxDelayMs: 250 };

/** After these failures in a row, requests are refused at once for a time. */
const FAILURES_MAX = 5;
/** Each further failure adds as much, up to the longest. */
const REFUSED_FIRST_MS = 1_000;
const REFUSED_MAX_MS = 5_000;

export type Breaker = {
  /** Throws `EventStoreBusy` while calls are refused. */
  check(): void;
  succeeded(): void;
  /** Counts only faults of the connection. */
  failed(error: unknown): void;
  hasSucceededSince(ms: number): boolean;
};

export const createBreaker = (now: () => number = () => performance.now()): Breaker => {
  let failures = 0;
  let refusedUntilMs = Number.NEGATIVE_INFINITY;
  let succeededAtMs = Number.NEGATIVE_INFINITY;
  return {
    check: () => {
      if (now() < refusedUntilMs) throw new EventStoreBusy(`it did not answer ${failures} times in a row`);
    },
    succeeded: () => {
      failures = 0;
      succeededAtMs = now();
    },
    failed: (error) => {
      if (!isConnectionFault(error)) return;
      // Calls that were sent together fail together and count once.
      if (now() < refusedUntilMs) return;
      failures += 1;
      if (failures < FAILURES_MAX) return;
      const forMs = Math.min(REFUSED_MAX_MS, REFUSED_FIRST_MS * (failures - FAILURES_MAX + 1));
      refusedUntilMs = now() + forMs;
    },
    hasSucceededSince: (ms) => succeededAtMs >= ms,
  };
};

/** Repeats an append after a fault of the connection, with the milliseconds left for its answer. */
export type SendAppend = <T>(append: (withinMs: number) => Promise<T>) => Promise<T>;

/** For background work, which waits long, but not past a time budget. */
export const createPatientSend =
  (): SendAppend =>
  async <T>(append: (withinMs: number) => Promise<T>): Promise<T> => {
    requireTime();
    const sending = retry(
      CONNECTION_RETRIES,
      (error) => isConnectionFault(error) && hasTime(),
      () => append(timeLeft(APPEND_TIMEOUT_MS)),
    );
    return untilTimeUsedUp(sending);
  };

/** Uses the caller's clock: the append stream counts only time in which this process ran. */
const inTime = async <T>(sending: Promise<T>, withinMs: number): Promise<T> => {
  sending.catch(() => undefined);
  return withTimeout(sending, withinMs);
};

/** Repeats an append within the time of its request. An append that is sent by the end may still be recorded. */
export const createPromptSend =
  (answerTime: AnswerTime, breaker: Breaker): SendAppend =>
  async <T>(append: (withinMs: number) => Promise<T>): Promise<T> => {
    const withinMs = answerTime.left();
    const deadline = performance.now() + withinMs;
    const leftMs = (): number => deadline - performance.now();
    const send = async (): Promise<T> => {
      try {
        const answer = await retry(
          REQUEST_RETRIES,
          (error) => isConnectionFault(error) && leftMs() > 0 && hasTime(),
          () => (leftMs() > 0 ? append(leftMs()) : Promise.reject(new EventStoreSilent(withinMs))),
        );
        breaker.succeeded();
        answerTime.begin();
        return answer;
      } catch (error) {
        if (error instanceof EventStoreSilent && !answerTime.isSilence(withinMs)) throw error;
        if (isConnectionFault(error)) breaker.failed(error);
        else breaker.succeeded();
        throw error;
      }
    };
    requireTime();
    breaker.check();
    return untilTimeUsedUp(inTime(send(), withinMs));
  };
