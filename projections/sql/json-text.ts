/** JSON string, or `null`, from text that needs no escaping. */
export const quoted = (text: string): string => `coalesce('"' || ${text} || '"', 'null')`;

/** Freshness object of `f`, a row of `freshness.brand`. Without a scan its times are null. */
export const freshnessText = (tierOtherwise: string): string => `coalesce(f.freshness,
  '{"as_of":null,"last_reliable_at":null,"next_due":null,"freshness_tier":"' || ${tierOtherwise} || '"}')`;
