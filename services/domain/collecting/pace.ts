import { HOUR_MS, MINUTE_MS } from '#contracts/values/time.ts';

/** The platform may ask for a longer rest. */
const SHUT_FIRST_MS = 30 * MINUTE_MS;
const SHUT_MAX_MS = 6 * HOUR_MS;

export type ArchiveAccess =
  | { readonly kind: 'open' }
  /** Limited `times` in a row. After `untilMs` one call tests the access. */
  | { readonly kind: 'shut'; readonly untilMs: number; readonly times: number }
  /** The token was rejected; only an operator with another token opens the account again. */
  | { readonly kind: 'off'; readonly reason: string };

export const shutAccess = (access: ArchiveAccess, regainMinutes: number, nowMs: number): ArchiveAccess => {
  if (access.kind === 'off') return access;
  const times = access.kind === 'shut' ? access.times + 1 : 1;
  const restMs = Math.min(SHUT_FIRST_MS * 2 ** Math.min(times - 1, 10), SHUT_MAX_MS);
  return { kind: 'shut', untilMs: nowMs + Math.max(restMs, regainMinutes * MINUTE_MS), times };
};

export const mayCall = (access: ArchiveAccess, nowMs: number): boolean =>
  access.kind === 'open' || (access.kind === 'shut' && access.untilMs <= nowMs);

/** Number of ads that one call requests. */
export const PAGE_SIZE_FIRST = 250;
export const PAGE_SIZE_MIN = 10;
export const PAGE_SIZE_MAX = 500;
/** Successful replies in a row after which the size doubles. */
const GOOD_BEFORE_DOUBLING = 10;

export type PageSize = { readonly limit: number; readonly good: number };

export const FIRST_PAGE_SIZE: PageSize = { limit: PAGE_SIZE_FIRST, good: 0 };

/** Doubles the size after enough successes. */
export const afterGoodPage = ({ limit, good }: PageSize): PageSize =>
  good + 1 < GOOD_BEFORE_DOUBLING
    ? { limit, good: good + 1 }
    : { limit: Math.min(limit * 2, PAGE_SIZE_MAX), good: 0 };

/** Halves the size after a too large reply; `null` at the minimum. */
export const halvedPage = ({ limit }: PageSize): PageSize | null =>
  limit <= PAGE_SIZE_MIN ? null : { limit: Math.max(Math.floor(limit / 2), PAGE_SIZE_MIN), good: 0 };

export type Usage = {
  /** Largest share of any limit, in percent. At 100 the platform blocks calls. */
  readonly percent: number;
  /** Minutes until calls are allowed again. */
  readonly regainMinutes: number;
};

/** The kind of access decides which of them a reply has. */
const USAGE_HEADERS = ['x-business-use-case-usage', 'x-app-usage', 'x-ad-account-usage', 'x-page-usage'];
const REGAIN_NAME = 'estimated_time_to_regain_access';
/** Members that hold times, not shares. */
const TIME_NAMES = /_duration$|_seconds$|_minutes$|^reset_|^acc_id/;
/** Plausible maximum: access is blocked for 24 hours at most. */
const PERCENT_MAX = 1_000;
const REGAIN_MAX_MINUTES = 24 * 60;
/** The deepest header has app, list, entry and member. */
const DEPTH_MAX = 5;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const numbersIn = (value: unknown, name = '', depth = 0): readonly (readonly [string, number])[] => {
  if (typeof value === 'number') return [[name, value]];
  if (typeof value !== 'object' || value === null || depth === DEPTH_MAX) return [];
  return Object.entries(value).flatMap(([key, member]) => numbersIn(member, key, depth + 1));
};

/** Returns the largest share, because their names change over the years; `null` when no header reports any. */
export const usageOf = (headers: Readonly<Record<string, string>>): Usage | null => {
  const numbers = USAGE_HEADERS.flatMap((header) => numbersIn(parsed(headers[header] ?? '')));
  const percents = numbers.filter(([name]) => name !== REGAIN_NAME && !TIME_NAMES.test(name));
  if (percents.length === 0) return null;
  const regains = numbers.filter(([name]) => name === REGAIN_NAME);
  return {
    percent: Math.min(PERCENT_MAX, Math.max(0, ...percents.map(([, value]) => value))),
    regainMinutes: Math.min(REGAIN_MAX_MINUTES, Math.max(0, ...regains.map(([, value]) => value))),
  };
};

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
type PacedCall = { readonly atMs: number; readonly percent: number | null };

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
