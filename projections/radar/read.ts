import type { Page, PageRequest, ReadDatabase } from '#contracts/read-database.ts';
import { BRAND_REFERENCE_SQL } from '#projections/across/brand-reference.ts';

export type RadarFilter = {
  readonly brandIds: readonly string[];
  /** ISO timestamp: items observed from here on. */
  readonly since: string;
  readonly types?: readonly string[];
};

/** What a page of the radar is narrowed to; each but `brands` is the place of a parameter. */
type Narrowed = {
  /** A row `t` with `brand_id` for each brand, and what it is joined to. */
  readonly brands: string;
  readonly since: string;
  readonly limit: string;
  readonly types: string | null;
  readonly after: readonly [time: string, id: string] | null;
};

/**
 * SQL of `item, observed_at, id`, newest first. The index alone finds the newest keys of each brand; only the
 * page's own items are then looked up.
 */
export const newestItems = ({ brands, since, limit, types, after }: Narrowed): string => `
  select left(i.doc, -1) || ',"brand":' || ${BRAND_REFERENCE_SQL} || '}' as item,
    to_char(k.observed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as observed_at, k.id
  from (
    select k.observed_at, k.id from ${brands} cross join lateral (
      select observed_at, id from radar.item i
      where i.brand_id = t.brand_id and i.observed_at >= ${since}
        ${types === null ? '' : `and i.type = any(${types}::text[])`}
        ${after === null ? '' : `and (i.observed_at, i.id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`}
      order by i.observed_at desc, i.id desc limit ${limit}
    ) k order by k.observed_at desc, k.id desc limit ${limit}
  ) k join radar.item i using (id) join radar.brand b on b.brand_id = i.brand_id
  order by k.observed_at desc, k.id desc`;

/** Numbers the parameters of a statement as they are named. */
export const parameters = () => {
  const values: unknown[] = [];
  return { values, given: (value: unknown): string => `$${values.push(value)}` };
};

/** Newest first, keyed by time of observation and id. */
export const listRadar = async (db: ReadDatabase, filter: RadarFilter, page: PageRequest): Promise<Page> => {
  if (filter.brandIds.length === 0) return { items: [], next: null };
  const { values, given } = parameters();
  const sql = newestItems({
    brands: `unnest(${given(filter.brandIds)}::uuid[]) as t(brand_id)`,
    since: given(filter.since),
    limit: given(page.limit + 1),
    types: filter.types === undefined ? null : given(filter.types),
    after: page.after === null ? null : [given(page.after[0]), given(page.after[1])],
  });
  return radarPage(await db.query<RadarRow>({ sql, values }), page.limit);
};

export type RadarRow = { readonly item: string; readonly observed_at: string; readonly id: string };

/** A page of rows of which there may be one more than it holds. */
export const radarPage = (rows: readonly RadarRow[], limit: number): Page => {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(({ item }) => item),
    next: rows.length > limit && last ? [last.observed_at, last.id] : null,
  };
};

const CLOSED = `
  select left(i.doc, -1) || ',"brand":' || ${BRAND_REFERENCE_SQL} || '}' as item,
    to_char(i.observed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as observed_at, i.id
  from radar.item i join radar.brand b on b.brand_id = i.brand_id
  where i.brand_id = $1 and i.observed_at >= $2 and i.type = any($3::text[])
    and (i.observed_at, i.id) < ($4::timestamptz, $5::uuid)
  order by i.observed_at desc, i.id desc limit $6`;

/** Sorts before every id, so that a page starts at a time and not after it. */
const BEFORE_EVERY_ID = '00000000-0000-0000-0000-000000000000';

/** Items of one brand observed from `since` on and before `until`. */
export type ClosedRadarFilter = {
  readonly brandId: string;
  readonly since: string;
  readonly until: string;
  readonly types: readonly string[];
};

/** Newest first: what whole windows are read by, page after page, brand by brand along the index. */
export const listClosedRadar = async (
  db: ReadDatabase,
  { brandId, since, until, types }: ClosedRadarFilter,
  page: PageRequest,
): Promise<Page> => {
  const after = page.after ?? [until, BEFORE_EVERY_ID];
  const values = [brandId, since, types, ...after, page.limit + 1];
  return radarPage(await db.query<RadarRow>({ sql: CLOSED, values }), page.limit);
};
