import { createSemaphore } from './semaphore.ts';

/** Tasks of one key run in the order of the calls, of different keys concurrently. After a failure no task starts. */
export type KeyedQueue = {
  /** Resolves when the task is queued, not when it has run. Throws the error of an earlier task. */
  add(key: string, task: () => Promise<void>): Promise<void>;
  /** Resolves when all tasks have ended. Throws the first error. */
  end(): Promise<void>;
};

/** `maxTasks`: queued and running, so also the maximum concurrency. */
export const createKeyedQueue = (maxTasks: number): KeyedQueue => {
  const slots = createSemaphore(maxTasks);
  /** The end of the last queued task of each key. */
  const tails = new Map<string, Promise<void>>();
  let failure: { readonly error: unknown } | null = null;

  const runTask = async (before: Promise<void> | undefined, task: () => Promise<void>): Promise<void> => {
    await before;
    try {
      if (failure === null) await task();
    } catch (error) {
      failure ??= { error };
    }
  };

  return {
    add: async (key, task) => {
      await slots.acquire();
      if (failure !== null) {
        slots.release();
        throw failure.error;
      }
      const tail = runTask(tails.get(key), task).finally(() => {
        if (tails.get(key) === tail) tails.delete(key);
        slots.release();
      });
      tails.set(key, tail);
    },
    end: async () => {
      await Promise.all(tails.values());
      if (failure !== null) throw failure.error;
    },
  };
};
