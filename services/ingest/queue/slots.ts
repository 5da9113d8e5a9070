import { LARGE_OBSERVATION_BYTES } from '#contracts/messages/subjects.ts';
import { pause } from '#platform/clock.ts';
import { createSemaphore } from '#platform/concurrency/semaphore.ts';

/** Share of the slots that large observations may take. Small ones of other brands use the rest. */
const LARGE_SHARE = 1 / 3;
/** Milliseconds after a small observation in which large ones of other brands give way. */
const SMALL_RECENT_MS = 1_000;
/**
 * Share of the time that large observations may take while small ones of other brands arrive. Parsing a megabyte takes tens
 * of milliseconds, in which nothing else proceeds.
 */
const LARGE_TIME_SHARE = 0.1;
/**
 * Milliseconds of processing that they may take at once, less than one of a megabyte: two in a row delayed small ones ten times,
 * and two that are apart hardly delay them.
 */
const LARGE_BURST_MS = 20;
/** Milliseconds that processing a megabyte usually takes. */
const LARGE_USUAL_MS = 100;
/** Maximum milliseconds of processing beyond their share that they make up for later. */
const LARGE_DEBT_MS = 3_000;
/** Maximum milliseconds between two looks whether a large observation may start. */
const LOOK_MS = 100;

/** An observation to process. `brand` is its ordering key. */
type Sized = { readonly bytes: number; readonly brand: string };

/** Slots in which observations are processed at once. */
export type Slots = {
  /** Runs `work` in a slot. Waits while none is free for an observation of this size. */
  run<T>(observation: Sized, work: () => Promise<T>): Promise<T>;
};

/** Time as the slots see it; for tests. */
type Time = { readonly now: () => number; readonly pause: (ms: number) => Promise<void> };

/** Maximum large observations in progress of `concurrency` slots. */
export const largeSlotsOf = (concurrency: number): number =>
  Math.max(1, Math.floor(concurrency * LARGE_SHARE));

/** Remembers when small observations were last in progress. */
const createRecentSmall = (now: () => number) => {
  let last = { brand: '', at: Number.NEGATIVE_INFINITY };
  let lastOfAnother = last;
  return {
    seen: (brand: string): void => {
      if (brand !== last.brand) lastOfAnother = last;
      last = { brand, at: now() };
    },
    /** True when a small observation of another brand was in progress of late. */
    isRecent: (brand: string): boolean =>
      now() - (last.brand === brand ? lastOfAnother : last).at < SMALL_RECENT_MS,
  };
};

/**
 * Budget of the time that large observations take. It fills up as time passes, slowly while small ones of other brands
 * arrive; large ones then wait while it is used up, and run one at a time: two at once take no less of the processors, and
 * a small one would wait for both. Each takes the usual time from it at its start, so that several do not
 * start on the same rest, and is charged with the time that it took at its end. Those that start while no small ones arrive
 * are free: they disturb none, and those that come later would make up for them.
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
    /** Waits until a large observation may start. Call the result with the time that it took. */
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

/**
 * Creates `concurrency` slots. Bodies are read in them, so they limit the bytes in memory too. `signal` ends waits for the
 * budget, at shutdown.
 */
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
