import { Refusal } from '#contracts/errors.ts';

/**
 * Lets so many of what is costly go on at once, and refuses the next instead of having it wait: who asked knows then,
 * and asks again.
 */
export const atMost = (max: number, what: string): (<T>(run: () => Promise<T>) => Promise<T>) => {
  let running = 0;
  return async (run) => {
    if (running >= max) {
      throw new Refusal('limit_reached', `${max} ${what} are under way here. Wait until one has ended.`);
    }
    running += 1;
    try {
      return await run();
    } finally {
      running -= 1;
    }
  };
};
