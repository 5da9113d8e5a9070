import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { pause } from '#platform/clock.ts';
import { outsideTimeBudget, timeLeft } from '#platform/concurrency/time-budget.ts';
import { havePassed, type PositionRow, POSITIONS, toPositions } from '../commands/projected-positions.ts';

/** Milliseconds between two looks at the checkpoints of a database while reads wait for positions. */
const POSITION_POLL_MS = 20;

type Waiting = {
  readonly readModels: readonly string[];
  readonly position: bigint;
  /** False when the caller does not read from this database any more. */
  readonly isUsed: () => boolean;
  readonly settle: (hasPassed: boolean) => void;
};

/** Looks at the checkpoints of one database for all reads that wait for positions there. */
export type PositionWatch = {
  /**
   * Waits until the read models have passed a position. Returns false after `ms` milliseconds, or once `isUsed` returns
   * false.
   */
  wait(
    readModels: readonly string[],
    position: bigint,
    limits: { readonly ms: number; readonly isUsed: () => boolean },
  ): Promise<boolean>;
};

/** `signal`: ends all waits. */
export const createPositionWatch = (db: Pick<ReadDatabase, 'query'>, signal: AbortSignal): PositionWatch => {
  const waiting = new Set<Waiting>();
  let isLooking = false;

  const look = async (): Promise<void> => {
    const rows = await db.query<PositionRow>(POSITIONS).catch(() => []);
    const known = toPositions(rows);
    for (const one of waiting) {
      if (havePassed(known, one.readModels, one.position)) one.settle(true);
      else if (signal.aborted || !one.isUsed()) one.settle(false);
    }
  };
  const lookOn = async (): Promise<void> => {
    while (waiting.size > 0) {
      await look();
      if (waiting.size > 0) await pause(POSITION_POLL_MS, signal);
    }
    isLooking = false;
  };

  return {
    wait: (readModels, position, { ms, isUsed }) =>
      new Promise<boolean>((resolve) => {
        const settle = (passed: boolean): void => {
          clearTimeout(timer);
          waiting.delete(one);
          resolve(passed);
        };
        const one: Waiting = { readModels, position, isUsed, settle };
        const timer = setTimeout(() => settle(false), timeLeft(ms));
        waiting.add(one);
        if (isLooking) return;
        isLooking = true;
        // The other reads share the looks, whose time is not that of this request.
        void outsideTimeBudget(lookOn);
      }),
  };
};
