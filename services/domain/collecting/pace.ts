import { HOUR_MS, MINUTE_MS } from '#contracts/values/time.ts';
import type { Usage } from './usage.ts';

export const ARCHIVE_CALLS_PER_HOUR = 150;
/** Usage in percent from which calls slow down, and the factor of their interval. */
const SLOWER: readonly (readonly [percent: number, factor: number])[] = [
  [75, 4],
  [50, 2],
];
/** Usage in percent above which no call may be expected to go. */
const PAUSE_PERCENT = 90;
const PAUSE_MIN_MS = 15 * MINUTE_MS;
/** A rise may be overstated by this, because the platform reports whole percents. */
const ROUNDING_PERCENT = 1;

/** Times are milliseconds since 1970. */
type PacedCall = {
  readonly atMs: number;
  readonly percent: number | null;
};

/** The platform counts over the last hour. */
export type Pace = {
  readonly calls: readonly PacedCall[];
  /** Usage before the first of `calls`; `null` when unknown. */
  readonly percentBefore: number | null;
  readonly firstMs: number | null;
  /** Epoch milliseconds before which no call is made. */
  readonly pausedUntilMs: number;
};

export const startPace = (percent: number | null): Pace => ({
  calls: [],
  percentBefore: percent,
  firstMs: null,
  pausedUntilMs: 0,
});

const lastPercentOf = ({ calls, percentBefore }: Pace): number | null =>
  calls.findLast(({ percent }) => percent !== null)?.percent ?? percentBefore;

/** Expected usage of one call: the mean rise in the last hour, at least the usage divided by its calls. */
const percentPerCall = (pace: Pace): number => {
  const { calls, percentBefore, firstMs } = pace;
  let previous = percentBefore;
  let risen = 0;
  let measured = 0;
  for (const { percent } of calls) {
    if (percent !== null && previous !== null) {
      risen += Math.max(0, percent - previous);
      measured += 1;
    }
    previous = percent ?? previous;
  }
  const mean = measured === 0 ? 0 : Math.max(0, risen - ROUNDING_PERCENT) / measured;
  const lastMs = calls.at(-1)?.atMs;
  const isFullHour = firstMs !== null && lastMs !== undefined && lastMs - firstMs >= HOUR_MS;
  return isFullHour ? Math.max(mean, (lastPercentOf(pace) ?? 0) / calls.length) : mean;
};

/** Time at which enough calls have left the hour for one more below `PAUSE_PERCENT`. */
const roomMs = ({ calls }: Pace, percent: number, perCall: number): number => {
  const excess = percent + perCall - PAUSE_PERCENT;
  if (excess <= 0 || perCall === 0) return 0;
  const leaving = calls[Math.min(Math.ceil(excess / perCall), calls.length) - 1];
  return leaving === undefined ? 0 : leaving.atMs + HOUR_MS;
};

/** Epoch milliseconds of the next call, spread over the hour; 0 before the first call. */
export const nextCallMs = (pace: Pace, callsPerHour: number): number => {
  const { calls, pausedUntilMs } = pace;
  const last = calls.at(-1);
  if (last === undefined) return pausedUntilMs;
  const perCall = percentPerCall(pace);
  const percent = lastPercentOf(pace) ?? 0;
  // The platform counts over an hour: older calls use nothing.
  const evenMs = Math.max(HOUR_MS / callsPerHour, Math.min((HOUR_MS * perCall) / PAUSE_PERCENT, HOUR_MS));
  const factor = SLOWER.find(([from]) => percent >= from)?.[1] ?? 1;
  return Math.ceil(Math.max(pausedUntilMs, last.atMs + evenMs * factor, roomMs(pace, percent, perCall)));
};

export const recordCall = (
  pace: Pace,
  { startMs: atMs, endMs }: { readonly startMs: number; readonly endMs: number },
  usage: Usage | null,
): Pace => {
  const calls = [...pace.calls, { atMs, percent: usage?.percent ?? null }];
  const kept = calls.filter((call) => call.atMs > atMs - HOUR_MS);
  const before = calls.slice(0, calls.length - kept.length).findLast(({ percent }) => percent !== null);
  const isPaused = usage !== null && usage.percent >= PAUSE_PERCENT;
  const pauseMs = isPaused ? Math.max(usage.regainMinutes * MINUTE_MS, PAUSE_MIN_MS) : 0;
  return {
    calls: kept,
    percentBefore: before?.percent ?? pace.percentBefore,
    firstMs: pace.firstMs ?? atMs,
    pausedUntilMs: isPaused ? endMs + pauseMs : pace.pausedUntilMs,
  };
};
