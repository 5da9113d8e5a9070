/** A time as JSON has it, in SQL: texts are put together there, since each column of an answer costs more. */
export const iso = (time: string): string =>
  `to_char(${time} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** A JSON string of text that needs no escaping. */
export const quoted = (text: string): string => `coalesce('"' || ${text} || '"', 'null')`;

/** SQL of the freshness object of `f`, the row of `freshness.brand`: nothing is made up where no scan is known. */
export const freshnessText = (tierOtherwise: string): string => `coalesce(f.freshness,
  '{"as_of":null,"last_reliable_at":null,"next_due":null,"freshness_tier":"' || ${tierOtherwise} || '"}')`;
