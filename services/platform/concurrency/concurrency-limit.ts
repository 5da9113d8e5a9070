import { Refusal } from '#contracts/errors.ts';

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
