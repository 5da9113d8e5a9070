import { DAY_MS, utcDate, utcDateOfMs } from './time.ts';

/**
 * The one definition of "the last N days": the N UTC days that end with the day of `as_of`, the time at which the
 * figures hold. Figures of one brand use the brand's own `as_of`. So they replay the same at any time, and two replies
 * that name the same window count the same days.
 */

/** Length of the windows `…_7d` and `…_30d`, in days. */
export const WINDOW_DAYS = { week: 7, month: 30 } as const;

/** Returns the first day of the window of `days` days that ends with the day of `asOf`, an ISO timestamp. */
export const windowStart = (asOf: string, days: number): string =>
  utcDateOfMs(Date.parse(utcDate(asOf)) - (days - 1) * DAY_MS);

/** SQL of the UTC date of a `timestamptz`. */
export const utcDateSql = (time: string): string => `(${time} at time zone 'utc')::date`;

/** SQL condition: a date lies in the window of `days` days that ends with the day of `asOf`. `days` may be a placeholder. */
export const inWindowSql = (date: string, asOf: string, days: number | string): string =>
  `(${date} > ${utcDateSql(asOf)} - ${days} and ${date} <= ${utcDateSql(asOf)})`;

/** SQL of the start of the window as a `timestamptz`: midnight UTC of its first day. */
export const windowStartSql = (asOf: string, days: number | string): string =>
  `((${utcDateSql(asOf)} - ${days} + 1)::timestamp at time zone 'utc')`;
