/**
 * A counting semaphore. It is fair: waiters get free slots first in, first out. It has no limit of how many wait, nor for how long:
 * its creator limits its callers, and the work in its slots has an end.
 */
export type Semaphore = {
  /** Takes a slot, and waits while none is free. Each call needs one `release`. */
  acquire(): Promise<void>;
  /** Frees a slot, or passes it to the first waiter. */
  readonly release: () => void;
};

/** Creates a semaphore with `slots` free slots. */
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
