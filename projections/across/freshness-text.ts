import { TIER_HOURS } from '#contracts/freshness-tiers.ts';

/**
 * The freshness object as JSON text, in SQL: it is put together there, since each column of an answer costs more
 * than a few more bytes. Of `f`, the row of `freshness.brand`, and `t`, tier and time of tracking. A tracked brand
 * that was never scanned is due from the moment it was tracked.
 */
export const iso = (time: string): string =>
  `to_char(${time} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** A JSON string of text that needs no escaping. */
export const quoted = (text: string): string => `coalesce('"' || ${text} || '"', 'null')`;

const NEXT_DUE = `coalesce(f.scanned_at + case t.tier
  when 'daily' then interval '${TIER_HOURS.daily} hours'
  when 'weekly' then interval '${TIER_HOURS.weekly} hours'
  else interval '${TIER_HOURS.census} hours' end, t.tracked_at)`;

/** `tierOtherwise`: SQL of the tier where the projection knows of no tracker. */
export const freshnessText = (tierOtherwise: string): string => `
    '{"as_of":' || ${quoted(iso('f.scanned_at'))}
      || ',"last_reliable_at":' || ${quoted(iso('f.reliable_at'))}
      || ',"next_due":' || ${quoted(iso(NEXT_DUE))}
      || ',"freshness_tier":"' || coalesce(t.tier, ${tierOtherwise}) || '"}'`;

/** `t` of a brand. */
export const trackersOf = (brandId: string): string => `lateral (
    select min(cadence) as tier, min(tracked_at) as tracked_at
    from freshness.tracker r where r.brand_id = ${brandId}
  ) t on true`;
