import { isoTimeSql } from '#contracts/values/time.ts';
import { type DatedPage, datedPageOfRows, LARGEST_BIGINT, LARGEST_UUID } from '../sql/keyset-page.ts';
import type { PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { quoted } from '../sql/json-text.ts';
import { raw, sql } from '../sql/sql-tag.ts';

const SHOWN = {
  asOf: raw(isoTimeSql('b.scanned_at')),
  estimatedFor: raw(quoted('b.monthly_visits_on')),
  topCountry: raw(quoted('k.top_country')),
  missingSince: raw(quoted('k.missing_since')),
};

const BEFORE_MOST_VISITED = [LARGEST_BIGINT, LARGEST_UUID, 0] as const;

type Row = {
  readonly monthly_visits: string;
  readonly brand_id: string;
  readonly as_of: string | null;
  readonly item: string | null;
};

/**
 * An index gives the keys in page order; brands without an estimate come last. The page omits brands without a
 * projected profile.
 */
export const listBrandsOfTool = async (
  db: ReadDatabase,
  { slug, country }: { readonly slug: string; readonly country?: string },
  { after, limit }: PageRequest,
): Promise<DatedPage> => {
  const start = after ?? BEFORE_MOST_VISITED;
  const [, , rank = 0] = start;
  const where = sql.and([
    sql.fragment`listed and slug = ${slug} and (monthly_visits, brand_id) < (${sql.list(start.slice(0, 2))})`,
    country !== undefined && sql.fragment`top_country = ${country}`,
  ]);
  const found = await db.query<Row>(sql.unsafe`
    select k.monthly_visits, k.brand_id, ${SHOWN.asOf} as as_of,
      '{"rank":' || (${rank}::bigint + row_number() over (order by k.monthly_visits desc, k.brand_id desc))
        || ',"brand":' || s.summary
        || ',"monthly_visits":' || coalesce(nullif(k.monthly_visits, -1)::text, 'null')
        || ',"estimated_for":' || ${SHOWN.estimatedFor}
        || ',"top_country":' || ${SHOWN.topCountry}
        || ',"detected_at":"' || k.detected_at || '","missing_since":' || ${SHOWN.missingSince} || '}' as item
    from (
      select brand_id, monthly_visits, top_country, detected_at, missing_since from tools.installed
      where ${where} order by monthly_visits desc, brand_id desc limit ${limit + 1}
    ) k
    join tools.brand b using (brand_id)
    left join brands.brand s using (brand_id)
    order by k.monthly_visits desc, k.brand_id desc`);
  return datedPageOfRows(found, limit, (last) => [last.monthly_visits, last.brand_id, Number(rank) + limit]);
};
