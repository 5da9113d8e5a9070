import { EventStoreBusy, EventStoreSilent, isConnectionFault } from '../errors.ts';
import { retry, type RetryLimits } from '../../concurrency/retry.ts';
import { hasTime, requireTime, untilTimeUsedUp } from '../../concurrency/time-budget.ts';

/** Milliseconds to wait for one answer to an append of background work. */
const APPEND_TIMEOUT_MS = 10_000;
/** Retries after a lost connection or a timeout. The same event ids make a repeated append idempotent. */
const CONNECTION_RETRIES: RetryLimits = { attempts: 8, firstDelayMs: 50, maxDelayMs: 3_000 };
/** The same within the time of a request. */
const REQUEST_RETRIES: RetryLimits = { attempts: 50, firstDelayMs: 50, maxDelayMs: 250 };

/** Failures in a row after which calls of requests are refused at once for a time. */
const FAILURES_MAX = 5;
/** Milliseconds of the first such time; each further failure adds as much, up to the longest. */
const REFUSED_FIRST_MS = 1_000;
const REFUSED_MAX_MS = 5_000;

/** Counts failures in a row of the calls of requests. */
export type Breaker = {
  /** Throws `EventStoreBusy` while calls are refused. */
  check(): void;
  succeeded(): void;
  /** Counts the error if it is a fault of the connection. */
  failed(error: unknown): void;
};

export const createBreaker = (now: () => number = () => performance.now()): Breaker => {
  let failures = 0;
  let refusedUntilMs = Number.NEGATIVE_INFINITY;
  return {
    check: () => {
      if (now() < refusedUntilMs) throw new EventStoreBusy(`it did not answer ${failures} times in a row`);
    },
    succeeded: () => {
      failures = 0;
    },
    failed: (error) => {
      if (!isConnectionFault(error)) return;
      failures += 1;
      if (failures < FAILURES_MAX) return;
      const forMs = Math.min(REFUSED_MAX_MS, REFUSED_FIRST_MS * (failures - FAILURES_MAX + 1));
      refusedUntilMs = now() + forMs;
    },
  };
};

/** Sends an append with the milliseconds left for its answer, and sends it again after a fault of the connection. */
export type SendAppend = <T>(append: (withinMs: number) => Promise<T>) => Promise<T>;

/** Creates the sender of background work, which waits long. */
export const createPatientSend =
  (): SendAppend =>
  <T>(append: (withinMs: number) => Promise<T>): Promise<T> =>
    retry(CONNECTION_RETRIES, isConnectionFault, () => append(APPEND_TIMEOUT_MS));

/**
 * Creates the sender of requests. An append must be answered within `withinMs`, repetitions included. The caller waits until
 * the end of its budget at most; an append that is sent by then may still be recorded, and is not repeated.
 */
export const createPromptSend =
  (withinMs: number, breaker: Breaker): SendAppend =>
  async <T>(append: (withinMs: number) => Promise<T>): Promise<T> => {
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
        return answer;
      } catch (error) {
        if (isConnectionFault(error)) breaker.failed(error);
        else breaker.succeeded();
        throw error;
      }
    };
    requireTime();
    breaker.check();
    return untilTimeUsedUp(send());
  };
