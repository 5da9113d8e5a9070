import type { Json, JsonObject } from './observed.ts';

export const CARD_FIELDS_MAX = 12;

/** Fields that a large card loses first, in this order; `fetch` returns them. */
const LOST_FIRST: readonly string[] = (
  'logo_url indexable record_url content_type bytes sha256 size_bytes platforms stored_at width ' +
  'height poster_url first_seen_at download_expires_at started_at updated_at created_by editors ' +
  'brand_ids observed_cut page_type_confidence days_active'
).split(' ');

export const toCard = (item: Json): Json => {
  if (item === null || typeof item !== 'object' || Array.isArray(item)) return item;
  const record = item as JsonObject;
  const excess = Object.keys(record).length - CARD_FIELDS_MAX;
  if (excess <= 0) return item;
  const lost = new Set(LOST_FIRST.filter((field) => field in record).slice(0, excess));
  const kept = Object.entries(record).filter(([field]) => !lost.has(field));
  if (kept.length <= CARD_FIELDS_MAX) return Object.fromEntries(kept);
  // New fields of the contract must not enlarge cards: the last ones are dropped, but not `observed`.
  const [observed, others] = [
    kept.filter(([name]) => name === 'observed'),
    kept.filter(([name]) => name !== 'observed'),
  ];
  return Object.fromEntries([...others.slice(0, CARD_FIELDS_MAX - observed.length), ...observed]);
};
