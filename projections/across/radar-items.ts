import type { Page } from '#contracts/read-database.ts';
import { BRAND_REFERENCE_SQL } from './brand-reference.ts';

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
