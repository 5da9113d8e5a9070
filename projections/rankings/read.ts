import { isoTimeSql } from '#contracts/values/time.ts';
import { utcDateSql, WINDOW_DAYS } from '#contracts/values/windows.ts';
import { cutPage, type RowPage } from '../sql/keyset-page.ts';
import type { PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { readAdaptivePage } from '../sql/adaptive-page.ts';

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
const IN_WEEK = `s.day > ${utcDateSql('(select max(observed_at) from rankings.day)')} - ${WINDOW_DAYS.week}`;

type Row = Record<'active_ads' | 'previous_active_ads' | 'key', string> & {
  readonly brand_id: string;
  readonly day: string;
  readonly previous_day: string;
};

/** Highest growth first. `next` holds growth, brand and rank of the last row. */
export const listRisers = async (
  db: ReadDatabase,
  filter: { readonly categoryId?: string; readonly country?: string },
  page: PageRequest,
): Promise<Risers> => {
  const values: unknown[] = [];
  const parameter = (value: unknown): string => `$${values.push(value) + 1}`;
  const [growth, brandId, rank = 0] = page.after ?? [];
  const [newest, rows] = await Promise.all([
    db.query<{ as_of: string | null }>({ sql: NEWEST, values: [] }),
    readAdaptivePage<Row>(
      db,
      {
        scan: {
          columns: 's.brand_id, s.growth as place',
          from: 'rankings.riser s',
          where: [
            `s.growth > 0 and ${IN_WEEK}`,
            ...(brandId === undefined
              ? []
              : [`(s.growth, s.brand_id) < (${parameter(growth)}::bigint, ${parameter(brandId)}::uuid)`]),
          ],
          order: 's.growth desc, s.brand_id desc',
        },
        show: (
          of,
        ) => `select s.brand_id, r.active_ads, r.previous_active_ads, s.place::text as key, r.day::text,
          r.previous_day::text from ${of} s join rankings.riser r using (brand_id)`,
        filterTable: { table: 'rankings.brand', alias: 'b', key: 'brand_id' },
        conditions: [
          'b.is_public',
          ...(filter.categoryId === undefined
            ? []
            : [`b.category_ids @> array[${parameter(filter.categoryId)}]::uuid[]`]),
          ...(filter.country === undefined ? [] : [`b.country = ${parameter(filter.country)}`]),
        ],
        order: 's.place desc, s.brand_id desc',
        values,
      },
      page,
    ),
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
