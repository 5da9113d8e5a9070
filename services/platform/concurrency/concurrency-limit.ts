import { Refusal } from '#contracts/errors.ts';

/** Runs `work` if a slot is free. Throws `Refusal` (`limit_reached`) at once if none is. */
export type ConcurrencyLimit = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Creates a concurrency limit that rejects instead of queueing, for costly work that a caller can retry. A semaphore
 * would queue it. `what` names the work in the message, in the plural.
 */
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
