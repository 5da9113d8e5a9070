import { DAY_MS, utcDate, utcDateOfMs } from './time.ts';

/** "The last N days" end with the day of a brand's `as_of`, so equal windows of two replies count the same days. */

export const WINDOW_DAYS = { week: 7, month: 30 } as const;

export const windowStart = (asOf: string, days: number): string =>
  utcDateOfMs(Date.parse(utcDate(asOf)) - (days - 1) * DAY_MS);

export const utcDateSql = (time: string): string => `(${time} at time zone 'utc')::date`;

export const inWindowSql = (date: string, asOf: string, days: number): string =>
  `(${date} > ${utcDateSql(asOf)} - ${days} and ${date} <= ${utcDateSql(asOf)})`;

export const windowStartSql = (asOf: string, days: number): string =>
  `((${utcDateSql(asOf)} - ${days} + 1)::timestamp at time zone 'utc')`;
