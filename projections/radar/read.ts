import type { Page, PageRequest, ReadDatabase } from '#contracts/read-database.ts';
import { BRAND_REFERENCE_SQL } from '#projections/across/brand-reference.ts';

export type RadarFilter = {
  readonly brandIds: readonly string[];
  /** ISO timestamp: items observed from here on. */
  readonly since: string;
  readonly types?: readonly string[];
};

// The index alone finds the newest keys of each brand; only the page's own items are then looked up.
const itemsOf = (typed: boolean, after: boolean): string => `
  select left(i.doc, -1) || ',"brand":' || ${BRAND_REFERENCE_SQL} || '}' as item,
    to_char(k.observed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as observed_at, k.id
  from (
    select k.observed_at, k.id from unnest($1::uuid[]) as t(brand_id) cross join lateral (
      select observed_at, id from radar.item i
      where i.brand_id = t.brand_id and i.observed_at >= $2
        ${typed ? 'and i.type = any($4::text[])' : ''}
        ${after ? `and (i.observed_at, i.id) < ($${typed ? 5 : 4}::timestamptz, $${typed ? 6 : 5}::uuid)` : ''}
      order by i.observed_at desc, i.id desc limit $3
    ) k order by k.observed_at desc, k.id desc limit $3
  ) k join radar.item i using (id) join radar.brand b on b.brand_id = i.brand_id
  order by k.observed_at desc, k.id desc`;

/** Newest first, keyed by time of observation and id. */
export const listRadar = async (db: ReadDatabase, filter: RadarFilter, page: PageRequest): Promise<Page> => {
  if (filter.brandIds.length === 0) return { items: [], next: null };
  const rows = await db.query<{ item: string; observed_at: string; id: string }>({
    sql: itemsOf(filter.types !== undefined, page.after !== null),
    values: [
      filter.brandIds,
      filter.since,
      page.limit + 1,
      ...(filter.types === undefined ? [] : [filter.types]),
      ...(page.after ?? []),
    ],
  });
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  return {
    items: shown.map(({ item }) => item),
    next: rows.length > page.limit && last ? [last.observed_at, last.id] : null,
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
  const rows = await db.query<{ item: string; observed_at: string; id: string }>({
    sql: CLOSED,
    values: [brandId, since, types, ...after, page.limit + 1],
  });
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  return {
    items: shown.map(({ item }) => item),
    next: rows.length > page.limit && last ? [last.observed_at, last.id] : null,
  };
};
