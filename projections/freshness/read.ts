import { isoTimeMicrosSql, isoTimeSql } from '#contracts/values/time.ts';
import { TIER_HOURS } from '#contracts/values/codes.ts';
import type { Cadence } from '#contracts/values/primitives.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import type { Freshness } from '#contracts/resources/corpus/brand.ts';
import { SLO_HOURS } from '#contracts/resources/workspace/tracked-brand.ts';

const DUE = `
  select t.brand_id, min(t.cadence) as cadence, ${isoTimeMicrosSql('b.scanned_at')} as scanned_at
  from freshness.tracker t left join freshness.brand b using (brand_id)
  group by t.brand_id, b.scanned_at
  having coalesce(b.scanned_at + case min(t.cadence)
    when 'daily' then interval '${TIER_HOURS.daily} hours' else interval '${TIER_HOURS.weekly} hours' end,
    min(t.tracked_at)) <= $1
    and ($3::uuid is null
      or (coalesce(b.scanned_at, '-infinity'), t.brand_id) > (coalesce($4::timestamptz, '-infinity'), $3::uuid))
  order by coalesce(b.scanned_at, '-infinity'), t.brand_id limit $2`;

/** `scanned_at`: ISO time, `null` before the first scan. */
export type DueScan = {
  readonly brand_id: string;
  readonly cadence: Cadence;
  readonly scanned_at: string | null;
};

/** Longest unscanned first. `now`: ISO timestamp; `after`: last brand of the page before, `null` for the first page. */
export const listDue = (
  db: ReadDatabase,
  now: string,
  limit: number,
  after: DueScan | null,
): Promise<readonly DueScan[]> =>
  db.query({ sql: DUE, values: [now, limit, after?.brand_id ?? null, after?.scanned_at ?? null] });

/** `null` if the brand was neither scanned nor tracked. */
export const readFreshness = async (db: ReadDatabase, brandId: string): Promise<Freshness | null> => {
  const rows = await db.query<{ freshness: string | null }>({
    sql: 'select freshness from freshness.brand where brand_id = $1',
    values: [brandId],
  });
  const text = rows[0]?.freshness ?? null;
  return text === null ? null : (JSON.parse(text) as Freshness);
};

const TRACKED_AS_OF = `
  select ${isoTimeSql(`coalesce(
    (select max(scanned_at) from freshness.tracker where workspace_id = $1),
    (select max(scanned_at) from freshness.brand))`)} as at`;

/** Last scan of any tracked brand, else of the corpus; `null` before the first. Send it before the figures' query. */
export const readTrackedAsOf = async (db: ReadDatabase, workspaceId: string): Promise<string | null> =>
  (await db.query<{ at: string | null }>({ sql: TRACKED_AS_OF, values: [workspaceId] }))[0]?.at ?? null;

// One text column per row: over thousands of rows, each further column costs a lookup and a copy.
const TRACKED = `
  select item || hours || ',"slo_status":"' || case when hours > slo_hours then 'breached' else 'ok' end || '"}' as item
  from (
    select brand_id, item, case cadence when 'daily' then ${SLO_HOURS.daily} else ${SLO_HOURS.weekly} end as slo_hours,
      greatest(0, floor(date_part('epoch', $2::timestamptz - counted_from) / 3600))::int as hours
    from freshness.tracker where workspace_id = $1 and item is not null
  ) k order by hours - slo_hours desc, brand_id`;

/** Orders brands by hours since the last reliable scan, or since tracking began, relative to their cadence. */
export const listTrackedFreshness = async (
  db: ReadDatabase,
  workspaceId: string,
  now: Date,
): Promise<readonly string[]> => {
  const rows = await db.query<{ item: string }>({ sql: TRACKED, values: [workspaceId, now.toISOString()] });
  return rows.map(({ item }) => item);
};
