import { createWakeSignal } from './wake-signal.ts';

/** Queue of results in the order in which promises are fulfilled, for one reader. */
export type PromiseQueue<T> = {
  watch(promise: Promise<T>): void;
  /** `null` when nothing arrives. After a rejection throws its error, also when results are queued. */
  next(timeoutMs: number): Promise<T | null>;
};

/** Replaces a repeated `Promise.race`, which adds a reaction to each pending promise at every call and leaks memory. */
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
