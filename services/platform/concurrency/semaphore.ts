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
