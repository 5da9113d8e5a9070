import { LARGE_OBSERVATION_BYTES } from '#contracts/messages/subjects.ts';
import { pause } from '#platform/clock.ts';
import { createSemaphore } from '#platform/concurrency/queues.ts';

const LARGE_SHARE = 1 / 3;
/** After a small observation, large ones of other brands give way for this long. */
const SMALL_RECENT_MS = 1_000;
/** Time share of large observations while small ones arrive. Parsing a megabyte blocks all for tens of milliseconds. */
const LARGE_TIME_SHARE = 0.1;
/** Less than a megabyte takes: two in a row delayed small ones ten times, two apart hardly at all. */
const LARGE_BURST_MS = 20;
const LARGE_USUAL_MS = 100;
const LARGE_DEBT_MS = 3_000;
const LOOK_MS = 100;

type Sized = { readonly bytes: number; readonly brand: string };

export type Slots = {
  run<T>(observation: Sized, work: () => Promise<T>): Promise<T>;
};

type Time = { readonly now: () => number; readonly pause: (ms: number) => Promise<void> };

export const largeSlotsOf = (concurrency: number): number =>
  Math.max(1, Math.floor(concurrency * LARGE_SHARE));

const createRecentSmall = (now: () => number) => {
  let last = { brand: '', at: Number.NEGATIVE_INFINITY };
  let lastOfAnother = last;
  return {
    seen: (brand: string): void => {
      if (brand !== last.brand) lastOfAnother = last;
      last = { brand, at: now() };
    },
    isRecent: (brand: string): boolean =>
      now() - (last.brand === brand ? lastOfAnother : last).at < SMALL_RECENT_MS,
  };
};

/**
 * Time budget of large observations. While small ones of other brands arrive it fills slowly, and large ones run one at
 * a time: two at once would delay a small one by both. A start takes the usual time, so that several do not share one
 * rest; the end charges the actual time. Without small ones, starts are free.
 */
const createLargeBudget = (time: Time, small: ReturnType<typeof createRecentSmall>) => {
  let left = LARGE_BURST_MS;
  let filledAt = time.now();
  let inProgress = 0;
  const fill = (rate: number): void => {
    left = Math.min(LARGE_BURST_MS, left + (time.now() - filledAt) * rate);
    filledAt = time.now();
  };
  return {
    wait: async (brand: string, isOver: () => boolean): Promise<(ms: number) => void> => {
      let isDisturbing = false;
      while (!isOver()) {
        isDisturbing = small.isRecent(brand);
        fill(isDisturbing ? LARGE_TIME_SHARE : 1);
        if (!isDisturbing || (left > 0 && inProgress === 0)) break;
        await time.pause(left > 0 ? LOOK_MS : Math.min(LOOK_MS, -left / LARGE_TIME_SHARE + 1));
      }
      inProgress += 1;
      if (isDisturbing) left -= LARGE_USUAL_MS;
      return (ms) => {
        inProgress -= 1;
        if (isDisturbing) left = Math.max(-LARGE_DEBT_MS, left + LARGE_USUAL_MS - ms);
      };
    },
  };
};

export const createSlots = (
  concurrency: number,
  signal: AbortSignal,
  time: Time = { now: () => performance.now(), pause: (ms) => pause(ms, signal) },
): Slots => {
  const all = createSemaphore(concurrency);
  const large = createSemaphore(largeSlotsOf(concurrency));
  const small = createRecentSmall(time.now);
  const budget = createLargeBudget(time, small);

  const runInSlot = async <T>(work: () => Promise<T>): Promise<T> => {
    await all.acquire();
    try {
      return await work();
    } finally {
      all.release();
    }
  };
  const runLarge = async <T>(brand: string, work: () => Promise<T>): Promise<T> => {
    await large.acquire();
    try {
      const spend = await budget.wait(brand, () => signal.aborted);
      let since = time.now();
      try {
        return await runInSlot(() => {
          since = time.now();
          return work();
        });
      } finally {
        spend(time.now() - since);
      }
    } finally {
      large.release();
    }
  };
  return {
    run: async ({ bytes, brand }, work) => {
      if (bytes > LARGE_OBSERVATION_BYTES) return await runLarge(brand, work);
      small.seen(brand);
      try {
        return await runInSlot(work);
      } finally {
        small.seen(brand);
      }
    },
  };
};
