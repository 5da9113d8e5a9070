import { isoTimeSql } from '#contracts/values/time.ts';
import { utcDateSql, WINDOW_DAYS } from '#contracts/values/windows.ts';
import { type RowPage, cutPage, readAdaptivePage } from '../sql/pages.ts';
import type { PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { raw, sql } from '../sql/sql-tag.ts';

export type RiserRow = {
  readonly brand_id: string;
  readonly rank: number;
  readonly active_ads: number;
  readonly previous_active_ads: number;
  readonly growth: number;
  /** Divided by the earlier count, to four decimals; `null` if that is zero. */
  readonly growth_rate: number | null;
  readonly day: string;
  readonly previous_day: string;
};

export type Risers = RowPage<RiserRow> & {
  /** Newest reliable scan of the corpus, with whose day the last week ends; `null` before it. */
  readonly as_of: string | null;
};

const NEWEST = `select ${isoTimeSql('max(observed_at)')} as as_of from rankings.day`;
/**
 * No riser has a later day. An upper bound would mislead the planner, which expects few rows in a range of unknown
 * bounds and sorts them all instead of following the growth index.
 */
const IS_RISER = raw(
  `s.growth > 0 and s.day > ${utcDateSql('(select max(observed_at) from rankings.day)')} - ${WINDOW_DAYS.week}`,
);

type Row = Record<'active_ads' | 'previous_active_ads' | 'key', string> & {
  readonly brand_id: string;
  readonly day: string;
  readonly previous_day: string;
};

const RISERS = {
  scan: {
    columns: sql.fragment`s.brand_id, s.growth as place`,
    from: sql.fragment`rankings.riser s`,
    order: sql.fragment`s.growth desc, s.brand_id desc`,
  },
  filterTable: { from: sql.fragment`rankings.brand b`, key: sql.fragment`brand_id` },
  show: {
    columns: sql.fragment`s.brand_id, r.active_ads, r.previous_active_ads, s.place::text as key, r.day::text,
      r.previous_day::text`,
    joins: sql.fragment`join rankings.riser r using (brand_id)`,
  },
  order: sql.fragment`s.place desc, s.brand_id desc`,
};

/** Highest growth first. `next` holds growth, brand and rank of the last row. */
export const listRisers = async (
  db: ReadDatabase,
  { categoryId, country }: { readonly categoryId?: string; readonly country?: string },
  page: PageRequest,
): Promise<Risers> => {
  const [growth, brandId, rank = 0] = page.after ?? [];
  const where = sql.and([
    IS_RISER,
    growth !== undefined &&
      brandId !== undefined &&
      sql.fragment`(s.growth, s.brand_id) < (${growth}::bigint, ${brandId}::uuid)`,
  ]);
  const conditions = [
    sql.fragment`b.is_public`,
    categoryId !== undefined && sql.fragment`b.category_ids @> array[${categoryId}]::uuid[]`,
    country !== undefined && sql.fragment`b.country = ${country}`,
  ].filter((one) => one !== false);
  const [newest, rows] = await Promise.all([
    db.query<{ as_of: string | null }>({ sql: NEWEST, values: [] }),
    readAdaptivePage<Row>(db, RISERS, { where, conditions }, page),
  ]);
  const ranked = rows.map((row, index): RiserRow => {
    const previous = Number(row.previous_active_ads);
    const grown = Number(row.key);
    return {
      brand_id: row.brand_id,
      rank: Number(rank) + index + 1,
      active_ads: Number(row.active_ads),
      previous_active_ads: previous,
      growth: grown,
      growth_rate: previous === 0 ? null : Math.round((grown / previous) * 10_000) / 10_000,
      day: row.day,
      previous_day: row.previous_day,
    };
  });
  return {
    ...cutPage(ranked, page.limit, (last) => [last.growth, last.brand_id, last.rank]),
    as_of: newest[0]?.as_of ?? null,
  };
};
