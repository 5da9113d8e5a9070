import { createSqlTag, type FragmentSqlToken } from 'slonik';
import type { PageRequest, ReadDatabase } from '#contracts/read-database.ts';

const sql = createSqlTag();

export type RiserRow = {
  readonly brand_id: string;
  readonly rank: number;
  readonly active_ads: number;
  readonly previous_active_ads: number;
  readonly growth: number;
  /** Growth over the earlier count, to four decimals; null from zero. */
  readonly growth_rate: number | null;
  readonly day: string;
  readonly previous_day: string;
};

export type Risers = {
  readonly rows: readonly RiserRow[];
  readonly next: readonly (string | number)[] | null;
  /** The newest scan of the corpus: the last week counts back from it. Null before any. */
  readonly as_of: string | null;
};

/** Public brands whose active ads grew, most first. `next` holds growth, brand and rank of the last row. */
export const listRisers = async (
  db: ReadDatabase,
  filter: { readonly categoryId?: string; readonly country?: string },
  page: PageRequest,
): Promise<Risers> => {
  const conditions: FragmentSqlToken[] = [
    sql.fragment`b.is_public and r.growth > 0 and r.day > (n.at at time zone 'utc')::date - 7`,
  ];
  if (filter.categoryId) conditions.push(sql.fragment`b.category_ids @> array[${filter.categoryId}]::uuid[]`);
  if (filter.country) conditions.push(sql.fragment`b.country = ${filter.country}`);
  const [growth, brandId, rank = 0] = page.after ?? [];
  if (growth !== undefined && brandId !== undefined) {
    conditions.push(sql.fragment`(r.growth, r.brand_id) < (${growth}::bigint, ${brandId}::uuid)`);
  }
  const [rows, newest] = await Promise.all([
    db.query<
      Record<'active_ads' | 'previous_active_ads' | 'growth', string> & {
        brand_id: string;
        day: string;
        previous_day: string;
      }
    >(sql.unsafe`
      select r.brand_id, r.active_ads, r.previous_active_ads, r.growth, r.day::text, r.previous_day::text
      from rankings.riser r join rankings.brand b using (brand_id),
        (select max(observed_at) as at from rankings.day) n
      where ${sql.join(conditions, sql.fragment` and `)}
      order by r.growth desc, r.brand_id desc limit ${page.limit + 1}`),
    db.query<{ as_of: string | null }>(sql.unsafe`
      select to_char(max(observed_at) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as as_of from rankings.day`),
  ]);
  const shown = rows.slice(0, page.limit).map((row, index): RiserRow => {
    const previous = Number(row.previous_active_ads);
    const grown = Number(row.growth);
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
  const last = shown.at(-1);
  return {
    rows: shown,
    next: rows.length > page.limit && last ? [last.growth, last.brand_id, last.rank] : null,
    as_of: newest[0]?.as_of ?? null,
  };
};
