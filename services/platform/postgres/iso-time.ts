/** Returns SQL that formats a `timestamptz` column as ISO 8601 text in UTC, with milliseconds. */
export const isoTime = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
