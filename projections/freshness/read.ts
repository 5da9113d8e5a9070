import { TIER_HOURS } from '#contracts/freshness-tiers.ts';
import type { Cadence } from '#contracts/primitives.ts';
import type { ReadDatabase } from '#contracts/read-database.ts';
import type { Freshness } from '#contracts/resources/brand.ts';

const ISO = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;

// A tracked brand that was never scanned is due from the moment it was tracked.
const FRESHNESS = `
  select i.brand_id,
    to_char(b.scanned_at at time zone 'utc', ${ISO}) as as_of,
    to_char(b.reliable_at at time zone 'utc', ${ISO}) as last_reliable_at,
    to_char(coalesce(b.scanned_at + case t.tier
      when 'daily' then interval '${TIER_HOURS.daily} hours'
      when 'weekly' then interval '${TIER_HOURS.weekly} hours'
      else interval '${TIER_HOURS.census} hours' end, t.tracked_at) at time zone 'utc', ${ISO}) as next_due,
    coalesce(t.tier, 'census') as freshness_tier
  from unnest($1::uuid[]) as i(brand_id)
  left join freshness.brand b using (brand_id)
  left join lateral (
    select min(cadence) as tier, min(tracked_at) as tracked_at from freshness.tracker where brand_id = i.brand_id
  ) t on true
  where b.brand_id is not null or t.tier is not null`;

const DUE = `
  select t.brand_id, min(t.cadence) as cadence
  from freshness.tracker t left join freshness.brand b using (brand_id)
  group by t.brand_id, b.scanned_at
  having coalesce(b.scanned_at + case min(t.cadence)
    when 'daily' then interval '${TIER_HOURS.daily} hours' else interval '${TIER_HOURS.weekly} hours' end,
    min(t.tracked_at)) <= $1
  order by b.scanned_at nulls first, t.brand_id limit $2`;

/** Tracked brands whose next scan is due at `now` (ISO timestamp), longest unscanned first. */
export const listDue = (
  db: ReadDatabase,
  now: string,
  limit: number,
): Promise<readonly { readonly brand_id: string; readonly cadence: Cadence }[]> =>
  db.query({ sql: DUE, values: [now, limit] });

/** Of each brand that was scanned or is tracked; others are left out. */
export const readFreshnessOf = async (
  db: ReadDatabase,
  brandIds: readonly string[],
): Promise<ReadonlyMap<string, Freshness>> => {
  if (brandIds.length === 0) return new Map();
  const rows = await db.query<Freshness & { brand_id: string }>({ sql: FRESHNESS, values: [brandIds] });
  return new Map(rows.map(({ brand_id, ...rest }) => [brand_id, rest]));
};

export const readFreshness = async (db: ReadDatabase, brandId: string): Promise<Freshness | null> =>
  (await readFreshnessOf(db, [brandId])).get(brandId) ?? null;
