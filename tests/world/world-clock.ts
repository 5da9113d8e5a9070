import type { Clock } from '#platform/clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#contracts/values/time.ts';

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

const DURATION = /^P(?:(\d{1,4})W)?(?:(\d{1,4})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,7})S)?)?$/;
const UNITS_MS = [7 * DAY_MS, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS];

/** Returns the milliseconds of an ISO 8601 duration of weeks, days, hours, minutes and seconds; `null` for other text. */
export const durationMs = (text: string): number | null => {
  const parts = DURATION.exec(text)?.slice(1);
  if (parts === undefined || parts.every((part) => part === undefined)) return null;
  return parts.reduce((sum, part, index) => sum + Number(part ?? 0) * (UNITS_MS[index] ?? 0), 0);
};
