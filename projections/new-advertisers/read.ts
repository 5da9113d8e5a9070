import { isoTimeSql, utcDate } from '#contracts/values/time.ts';
import { windowStart } from '#contracts/values/windows.ts';
import { type RowPage, cutPage } from '../sql/pages.ts';
import type { PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { sql } from '../sql/sql-tag.ts';

export type NewAdvertiserRow = {
  readonly brand_id: string;
  readonly rank: number;
  readonly first_ad_started_on: string;
  readonly active_ads: number;
};

export type NewAdvertisers = RowPage<NewAdvertiserRow> & {
  /** Newest scan at the last nightly run; `null` before it. */
  readonly as_of: string | null;
};

/** Brands first scanned before the window whose first ad began in it, most active first. Rewritten nightly. */
export const listNewAdvertisers = async (
  db: ReadDatabase,
  filter: { readonly days: number; readonly categoryId?: string; readonly country?: string },
  page: PageRequest,
): Promise<NewAdvertisers> => {
  const present = await db.query<{ present: boolean }>({
    sql: `select to_regclass('nightly.new_advertiser') is not null as present`,
    values: [],
  });
  if (!present[0]?.present) return { rows: [], next: null, as_of: null };
  // Reads the rewrite first, so that the list is never older than the rewrite that the reply names.
  const rewrite = await db.query<{ as_of: string | null }>({
    sql: `
    select ${isoTimeSql('as_of')} as as_of
    from nightly.rewrite where name = 'new-advertisers'`,
    values: [],
  });
  const asOf = rewrite[0]?.as_of ?? null;
  if (asOf === null) return { rows: [], next: null, as_of: null };
  const firstDay = windowStart(asOf, filter.days);
  const { categoryId, country } = filter;
  const [active, brandId, rank = 0] = page.after ?? [];
  const conditions = sql.and([
    sql.fragment`l.first_ad_started_on between ${firstDay}::date and ${utcDate(asOf)}::date`,
    sql.fragment`l.first_scan_at < ${firstDay}::timestamp at time zone 'utc'`,
    categoryId !== undefined && sql.fragment`l.category_ids @> array[${categoryId}]::uuid[]`,
    country !== undefined && sql.fragment`l.country = ${country}`,
    active !== undefined &&
      brandId !== undefined &&
      sql.fragment`(l.active_ads, l.brand_id) < (${active}::bigint, ${brandId}::uuid)`,
  ]);
  const rows = await db.query<{
    brand_id: string;
    first_ad_started_on: string;
    active_ads: string;
  }>(sql.unsafe`
    select l.brand_id, l.first_ad_started_on::text, l.active_ads from nightly.new_advertiser l
    where ${conditions} order by l.active_ads desc, l.brand_id desc limit ${page.limit + 1}`);
  const ranked = rows.map(
    (row, index): NewAdvertiserRow => ({
      brand_id: row.brand_id,
      rank: Number(rank) + index + 1,
      first_ad_started_on: row.first_ad_started_on,
      active_ads: Number(row.active_ads),
    }),
  );
  return {
    ...cutPage(ranked, page.limit, (last) => [last.active_ads, last.brand_id, last.rank]),
    as_of: asOf,
  };
};
