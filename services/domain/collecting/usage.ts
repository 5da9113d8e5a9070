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
