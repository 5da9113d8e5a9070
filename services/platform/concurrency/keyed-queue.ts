import { createSemaphore } from './semaphore.ts';

/**
 * A queue of tasks with a key. Tasks of one key run one after another, in the order of the calls. Tasks of different
 * keys run concurrently. After a task fails, no further task starts; `add` and `end` throw the first error.
 */
export type KeyedQueue = {
  /**
   * Queues a task. Resolves when it is queued, not when it has run. Waits while the maximum number of tasks is queued or
   * running. Throws the error of an earlier task.
   */
  add(key: string, task: () => Promise<void>): Promise<void>;
  /** Resolves when all queued tasks have ended. Throws the error of the first failed task. */
  end(): Promise<void>;
};

/** Creates a keyed queue. `maxTasks`: maximum tasks that are queued or running, so also the maximum concurrency. */
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
