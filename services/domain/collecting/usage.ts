/** Usage that the platform reports with an answer. */
export type Usage = {
  /** Largest share of any of its limits, in percent. At 100 access is shut. */
  readonly percent: number;
  /** Minutes until a shut access opens again; 0 when it is open. */
  readonly regainMinutes: number;
};

/** Headers that report usage. Which of them an answer has depends on the kind of access. */
const USAGE_HEADERS = ['x-business-use-case-usage', 'x-app-usage', 'x-ad-account-usage', 'x-page-usage'];
const REGAIN_NAME = 'estimated_time_to_regain_access';
/** Members of the headers that are times and no shares. */
const TIME_NAMES = /_duration$|_seconds$|_minutes$|^reset_|^acc_id/;
/** Limits of what is believed: access is shut for 24 hours at most, and a share is not many times the whole. */
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

/** Returns all named numbers of a value. */
const numbersIn = (value: unknown, name = '', depth = 0): readonly (readonly [string, number])[] => {
  if (typeof value === 'number') return [[name, value]];
  if (typeof value !== 'object' || value === null || depth === DEPTH_MAX) return [];
  return Object.entries(value).flatMap(([key, member]) => numbersIn(member, key, depth + 1));
};

/**
 * Returns the usage that the headers report, with names in lower case. The names of the shares have changed over the years,
 * so the largest number counts, except times. `null` when no header reports any.
 */
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
