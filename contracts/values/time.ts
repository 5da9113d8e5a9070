export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const WEEK_MS = 7 * DAY_MS;

/** `YYYY-MM-DD` of an ISO timestamp in UTC. A date is returned unchanged. */
export const utcDate = (timestamp: string): string => timestamp.slice(0, 'YYYY-MM-DD'.length);

export const utcDateOfMs = (ms: number): string => utcDate(new Date(ms).toISOString());

const formattedSql = (time: string, format: string): string =>
  `to_char(${time} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.${format}"Z"')`;

/** From a `timestamptz`, with milliseconds, as in JSON. */
export const isoTimeSql = (time: string): string => formattedSql(time, 'MS');

/** From a `timestamptz`, with microseconds, which lose nothing: for cursors and backups. */
export const isoTimeMicrosSql = (time: string): string => formattedSql(time, 'US');
