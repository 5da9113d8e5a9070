import type { Clock } from '#platform/clock.ts';
import { DAY_MS } from '#contracts/values/time.ts';

/** Longest step of the clock: a year. A typing error would otherwise end the world. */
const STEP_MAX_MS = 366 * DAY_MS;

/** A clock that only its owner moves, and never backward. */
export type WorldClock = Clock & {
  /** Moves the clock. Throws for a step that is negative, no number, or longer than a year. */
  advance(ms: number): void;
  /** Moves the clock to this time, in milliseconds since 1970. An earlier time changes nothing. */
  advanceTo(ms: number): void;
};

export const createWorldClock = (startMs: number): WorldClock => {
  let nowMs = startMs;
  const advance = (ms: number): void => {
    if (!(ms >= 0 && ms <= STEP_MAX_MS)) {
      throw new RangeError('A step is from 0 ms to 366 days. The clock never moves backward.');
    }
    nowMs += ms;
  };
  return {
    now: () => new Date(nowMs),
    advance,
    advanceTo: (ms) => advance(Math.max(0, ms - nowMs)),
  };
};
