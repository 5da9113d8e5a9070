/** Maximum requests of one caller that start in one turn of the event loop. */
const PER_TURN = 2;
/** Maximum requests that wait for a later turn, of all callers. Further ones start at once, and meet the limits behind. */
export const TURNS_WAITING_MAX = 4_096;

/**
 * Starts requests of callers in turn. Many requests of one caller at once do not occupy the event loop: requests of others
 * start between them.
 */
export type FairTurns = {
  /** Returns at once when the caller has started fewer than `PER_TURN` requests in this turn, or waits for a later turn. */
  enter(caller: string): void | Promise<void>;
};

/** Creates turns. A turn ends when the event loop has read what arrived. */
export const createFairTurns = (): FairTurns => {
  const started = new Map<string, number>();
  const waiting = new Map<string, (() => void)[]>();
  let waitingCount = 0;
  let isScheduled = false;

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(nextTurn);
  };
  const nextTurn = (): void => {
    isScheduled = false;
    started.clear();
    for (const [caller, starts] of waiting) {
      const next = starts.splice(0, PER_TURN);
      started.set(caller, next.length);
      waitingCount -= next.length;
      if (starts.length === 0) waiting.delete(caller);
      for (const start of next) start();
    }
    if (started.size > 0) schedule();
  };

  return {
    enter: (caller) => {
      const count = started.get(caller) ?? 0;
      if (count < PER_TURN && !waiting.has(caller)) {
        started.set(caller, count + 1);
        schedule();
        return undefined;
      }
      if (waitingCount >= TURNS_WAITING_MAX) return undefined;
      waitingCount += 1;
      const { promise, resolve } = Promise.withResolvers<void>();
      const starts = waiting.get(caller);
      if (starts) starts.push(resolve);
      else waiting.set(caller, [resolve]);
      schedule();
      return promise;
    },
  };
};
