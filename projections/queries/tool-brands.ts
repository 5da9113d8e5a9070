import { isoTimeSql } from '#contracts/values/time.ts';
import { cutPage, LARGEST_BIGINT, LARGEST_UUID } from '../sql/keyset-page.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { quoted } from '../sql/json-text.ts';

/**
 * An index gives the keys in page order; brands without an estimate come last. The page omits brands without a
 * projected profile.
 */
const page = (ofCountry: boolean): string => `
  select k.monthly_visits, k.brand_id, ${isoTimeSql('b.scanned_at')} as as_of,
    '{"rank":' || ($4::bigint + row_number() over (order by k.monthly_visits desc, k.brand_id desc))
      || ',"brand":' || s.summary
      || ',"monthly_visits":' || coalesce(nullif(k.monthly_visits, -1)::text, 'null')
      || ',"estimated_for":' || ${quoted('b.monthly_visits_on')}
      || ',"top_country":' || ${quoted('k.top_country')}
      || ',"detected_at":"' || k.detected_at || '","missing_since":' || ${quoted('k.missing_since')} || '}' as item
  from (
    select brand_id, monthly_visits, top_country, detected_at, missing_since from tools.installed
    where listed and slug = $1 and (monthly_visits, brand_id) < ($2::bigint, $3::uuid)
      ${ofCountry ? 'and top_country = $6' : ''}
    order by monthly_visits desc, brand_id desc limit $5
  ) k
  join tools.brand b using (brand_id)
  left join brands.brand s using (brand_id)
  order by k.monthly_visits desc, k.brand_id desc`;
const OF_ANY_COUNTRY = page(false);
const OF_COUNTRY = page(true);

const BEFORE_MOST_VISITED = [LARGEST_BIGINT, LARGEST_UUID, 0] as const;

type Row = {
  readonly monthly_visits: string;
  readonly brand_id: string;
  readonly as_of: string | null;
  readonly item: string | null;
};

export const listBrandsOfTool = async (
  db: ReadDatabase,
  filter: { readonly slug: string; readonly country?: string },
  request: PageRequest,
): Promise<Page & { readonly asOf: readonly (string | null)[] }> => {
  const [visits, brandId, rank = 0] = request.after ?? BEFORE_MOST_VISITED;
  const values = [filter.slug, visits, brandId, rank, request.limit + 1];
  const found = await db.query<Row>(
    filter.country === undefined
      ? { sql: OF_ANY_COUNTRY, values }
      : { sql: OF_COUNTRY, values: [...values, filter.country] },
  );
  const { rows, next } = cutPage(found, request.limit, (last) => [
    last.monthly_visits,
    last.brand_id,
    Number(rank) + request.limit,
  ]);
  return {
    items: rows.flatMap(({ item }) => (item === null ? [] : [item])),
    next,
    asOf: rows.map((row) => row.as_of),
  };
};
