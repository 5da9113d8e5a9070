import { Refusal } from '#contracts/errors.ts';
import { createWakeSignal } from './wake-signal.ts';

/** Work of one key runs in the order of the calls, also after a failure; of different keys concurrently. */
export type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T>;

const ignore = (): void => undefined;

/** Holds a key only while its work is queued or running. */
export const createKeyedMutex = (): KeyedMutex => {
  const latest = new Map<string, Promise<void>>();
  return async (key, work) => {
    const own = (latest.get(key) ?? Promise.resolve()).then(work);
    const ended = own.then(ignore, ignore);
    latest.set(key, ended);
    try {
      return await own;
    } finally {
      if (latest.get(key) === ended) latest.delete(key);
    }
  };
};

/** Counting semaphore, first in, first out. The creator limits the callers, so waiters have no limit. */
export type Semaphore = {
  /** Each call needs one `release`. */
  acquire(): Promise<void>;
  readonly release: () => void;
};

export const createSemaphore = (slots: number): Semaphore => {
  let free = slots;
  const waiters: (() => void)[] = [];
  return {
    acquire: async () => {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiters.push(resolve));
    },
    release: () => {
      const next = waiters.shift();
      if (next) next();
      else free += 1;
    },
  };
};

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

/** Throws `Refusal` (`limit_reached`) at once if no slot is free. */
export type ConcurrencyLimit = <T>(work: () => Promise<T>) => Promise<T>;

/** Rejects instead of queueing: a caller can retry costly work. `what` names the work in the message, in the plural. */
export const createConcurrencyLimit = (max: number, what: string): ConcurrencyLimit => {
  let running = 0;
  return async (work) => {
    if (running >= max) {
      throw new Refusal('limit_reached', `${max} ${what} are already running. Retry when one has ended.`);
    }
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
    }
  };
};

export type PlaceLimits = {
  readonly max: number;
  readonly perKey: number;
  /** Waiting work in all and of one key, and how long each waits. Without it, none waits. */
  readonly waiting?: { readonly max: number; readonly perKey: number; readonly timeoutMs: () => number };
  /** Error of work without a place. `ofKey`: its key has none left. */
  readonly refuse: (ofKey: boolean) => Error;
};

/** Places for work, in all and for one key. */
export type Places = {
  /** Returns the function that frees the place; `null` when none is free. */
  take(key: string): (() => void) | null;
  /** Waits for a place, and throws the error of `refuse` without one. */
  enter(key: string): Promise<() => void>;
  readonly run: <T>(key: string, work: () => Promise<T>) => Promise<T>;
};

export const createPlaces = ({ max, perKey, waiting, refuse }: PlaceLimits): Places => {
  const used = new Map<string, number>();
  const queue = new Set<{ readonly key: string; readonly start: (free: () => void) => void }>();
  let usedCount = 0;

  const take = (key: string): (() => void) | null => {
    const own = used.get(key) ?? 0;
    if (usedCount >= max || own >= perKey) return null;
    usedCount += 1;
    used.set(key, own + 1);
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      usedCount -= 1;
      const left = (used.get(key) ?? 1) - 1;
      if (left === 0) used.delete(key);
      else used.set(key, left);
      // One key does not hold up the others: its next work waits behind theirs.
      for (const one of [...queue].filter((waiter) => waiter.key === key)) {
        queue.delete(one);
        queue.add(one);
      }
      // Work of a key at its limit lets others pass.
      for (const one of queue) {
        if (usedCount >= max) break;
        const free = take(one.key);
        if (free) one.start(free);
      }
    };
  };
  const refusal = (key: string): Error => refuse((used.get(key) ?? 0) >= perKey);
  const enter = async (key: string): Promise<() => void> => {
    const taken = take(key);
    if (taken) return taken;
    const isFull = (limits: NonNullable<typeof waiting>): boolean =>
      queue.size >= limits.max || [...queue].filter((one) => one.key === key).length >= limits.perKey;
    if (waiting === undefined || isFull(waiting)) throw refusal(key);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        queue.delete(one);
        reject(refusal(key));
      }, waiting.timeoutMs());
      const one = {
        key,
        start: (free: () => void): void => {
          clearTimeout(timer);
          queue.delete(one);
          resolve(free);
        },
      };
      queue.add(one);
    });
  };

  return {
    take,
    enter,
    run: async (key, work) => {
      const free = await enter(key);
      try {
        return await work();
      } finally {
        free();
      }
    },
  };
};
