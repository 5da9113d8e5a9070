import { isoTimeMicrosSql } from '#contracts/values/time.ts';
import { utcDateSql } from '#contracts/values/windows.ts';
import { SMALLEST_UUID, newestPerBrand } from '../sql/pages.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { RADAR_ITEM_SQL, RADAR_TABLE, type RadarRow, radarItems, radarPage } from '../sql/json.ts';
import { sql } from '../sql/sql-tag.ts';

export type RadarFilter = {
  readonly brandIds: readonly string[];
  readonly since: string;
  readonly types?: readonly string[];
};

export const listRadar = async (
  db: ReadDatabase,
  { brandIds, since, types }: RadarFilter,
  { limit, after }: PageRequest,
): Promise<Page> => {
  if (brandIds.length === 0) return { items: [], next: null };
  const keys = newestPerBrand(
    { ...RADAR_TABLE, window: { since }, kinds: types, after, limit: limit + 1 },
    sql.fragment`unnest(${sql.array(brandIds, 'uuid')}) as b(brand_id)`,
  );
  return radarPage(await db.query<RadarRow>(radarItems(keys)), limit);
};

const CLOSED = `
  select ${RADAR_ITEM_SQL} as item,
    ${isoTimeMicrosSql('i.observed_at')} as observed_at, i.id
  from radar.item i join radar.brand b on b.brand_id = i.brand_id
  where i.brand_id = $1 and i.observed_at >= $2 and i.type = any($3::text[])
    and (i.observed_at, i.id) < ($4::timestamptz, $5::uuid)
  order by i.observed_at desc, i.id desc limit $6`;

export type ClosedRadarFilter = {
  readonly brandId: string;
  readonly since: string;
  readonly until: string;
  readonly types: readonly string[];
};

export const listClosedRadar = async (
  db: ReadDatabase,
  { brandId, since, until, types }: ClosedRadarFilter,
  page: PageRequest,
): Promise<Page> => {
  // The smallest id starts the page strictly before `until`.
  const values = [brandId, since, types, ...(page.after ?? [until, SMALLEST_UUID]), page.limit + 1];
  return radarPage(await db.query<RadarRow>({ sql: CLOSED, values }), page.limit);
};

// An item of an ad that moved may have been in documents about any brand. The position of an item is that of the last event
// that reported, restated or marked it.
const LATE = `
  select distinct brand_id, date from (
    select case when m.brand_id is null then i.brand_id end as brand_id, ${utcDateSql('i.observed_at')}::text as date,
      greatest(i.position, i.stated_at, m.position) as position
    from radar.item i left join radar.mark m using (ad_id, type, scan_id)
    where i.observed_at >= $1
  ) i where position > $2`;

/** UTC day with items that were reported or corrected after a position. */
export type ChangedDay = {
  /** `null` for an ad that moved between brands. */
  readonly brand_id: string | null;
  readonly date: string;
};

/** `since`: UTC date of the oldest items, `after`: position in the log. */
export const listChangedDays = (
  db: ReadDatabase,
  since: string,
  after: bigint,
): Promise<readonly ChangedDay[]> => db.slow({ sql: LATE, values: [`${since}T00:00:00Z`, after.toString()] });

const FOUND = `
  select i.brand_id, ${RADAR_ITEM_SQL} as item from radar.item i join radar.brand b on b.brand_id = i.brand_id
  where i.id = $1`;

export type FoundRadarItem = { readonly brand_id: string; readonly item: string };

export const findRadarItem = async (db: ReadDatabase, itemId: string): Promise<FoundRadarItem | null> =>
  (await db.query<FoundRadarItem>({ sql: FOUND, values: [itemId] }))[0] ?? null;
