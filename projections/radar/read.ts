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
