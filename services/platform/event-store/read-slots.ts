import { timeLeft } from '../concurrency/time-budget.ts';
import type { AnswerTime } from './answer-time.ts';
import { EventStoreBusy } from './errors.ts';

/** Servers allow 100 calls on a connection; further ones would wait unseen. */
export const READS_MAX = 64;
/** Further reads are refused at once. */
export const READS_WAITING_MAX = 1_000;
/** For background work. */
const PATIENT_WAIT_MS = 60_000;

export type ReadSlots = {
  /** Throws `EventStoreBusy` when no slot becomes free in time. Each call needs one `release`. */
  acquire(): Promise<void>;
  release(): void;
};

/** First come, first served. */
export const createReadSlots = (answerTime: AnswerTime | null, max = READS_MAX): ReadSlots => {
  let free = max;
  const waiters: (() => void)[] = [];
  const wait = (): Promise<void> => {
    if (waiters.length >= READS_WAITING_MAX) {
      throw new EventStoreBusy(`${READS_WAITING_MAX} reads wait for it`);
    }
    return new Promise((resolve, reject) => {
      const take = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiters.splice(waiters.indexOf(take), 1);
        reject(new EventStoreBusy(`all its ${max} places for reads are taken`));
      }, answerTime?.left() ?? timeLeft(PATIENT_WAIT_MS));
      waiters.push(take);
    });
  };
  return {
    acquire: async () => {
      if (free > 0) free -= 1;
      else await wait();
    },
    release: () => {
      const next = waiters.shift();
      if (next) next();
      else free += 1;
    },
  };
};
