import type { Log } from '#platform/logger.ts';

/** Time in ms for which a process counts as heard after its last message. */
const HEARD_FOR_MS = 3_000;

/** The other processes that this one hears. Times are epoch ms. */
export type HeardProcesses = {
  /** Notes a message. Returns true when the process was not heard before. */
  hear(process: string, now: number): boolean;
  /** Returns the number of processes heard of late. */
  count(now: number): number;
  /** Forgets those that are silent. Logs once that some of `others` are not heard, and once that all are heard again. */
  check(now: number, others: number): void;
};

/** `startedAt`: when this process started; the others are not missed before they can have been heard. */
export const createHeardProcesses = (startedAt: number, log: Log | undefined): HeardProcesses => {
  const heardAt = new Map<string, number>();
  let isLossLogged = false;

  const count = (now: number): number => {
    let heard = 0;
    for (const at of heardAt.values()) if (now - at <= HEARD_FOR_MS) heard += 1;
    return heard;
  };

  return {
    hear: (process, now) => {
      const isNew = !heardAt.has(process);
      heardAt.set(process, now);
      return isNew;
    },
    count,
    check: (now, others) => {
      for (const [process, at] of heardAt) if (now - at > HEARD_FOR_MS) heardAt.delete(process);
      const heard = count(now);
      const isLost = now - startedAt > HEARD_FOR_MS && heard < others;
      if (isLost === isLossLogged) return;
      isLossLogged = isLost;
      if (isLost) log?.warn({ others, heard }, 'other processes not heard; share of limits allowed');
      else log?.info({ others }, 'other processes heard; rights shared');
    },
  };
};
