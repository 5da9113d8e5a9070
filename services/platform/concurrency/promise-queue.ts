import { createWakeSignal } from './wake-signal.ts';

/** A queue of promise results, in the order in which the promises are fulfilled. It has one reader. */
export type PromiseQueue<T> = {
  /** Adds a promise. Its result is queued when it is fulfilled. */
  watch(promise: Promise<T>): void;
  /**
   * Removes and returns the oldest result. Waits up to `timeoutMs` for one; `null` when none arrives. After a promise
   * was rejected, throws the first rejection's error, also when results are queued.
   */
  next(timeoutMs: number): Promise<T | null>;
};

/**
 * Creates a promise queue. It replaces a repeated `Promise.race`, which adds a reaction to each pending promise at every
 * call, and so leaks memory when a promise stays pending for long.
 */
export const createPromiseQueue = <T>(): PromiseQueue<T> => {
  const results: T[] = [];
  let failure: { readonly error: unknown } | undefined;
  const settled = createWakeSignal();
  const queueResult = async (promise: Promise<T>): Promise<void> => {
    try {
      results.push(await promise);
    } catch (error) {
      failure ??= { error };
    }
    settled.notify();
  };
  return {
    watch: (promise) => void queueResult(promise),
    next: async (timeoutMs) => {
      if (results.length === 0 && !failure) await settled.next({ timeoutMs });
      if (failure) throw failure.error;
      return results.shift() ?? null;
    },
  };
};
