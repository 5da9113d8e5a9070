import { isoTimeSql } from '#contracts/values/time.ts';
import { type DatedPage, datedPageOfRows, LARGEST_BIGINT, LARGEST_UUID } from '../sql/keyset-page.ts';
import type { AudienceSegment } from '#contracts/values/audience-segments.ts';
import type { PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { type Fragment, raw, sql } from '../sql/sql-tag.ts';

const AS_OF = raw(isoTimeSql('s.observed_at'));
const RANKING_ITEM = raw(`'"country":"' || s.top_country || '","country_share":' || s.top_country_share
  || ',"global_ranking":' || coalesce(s.global_ranking::text, 'null')
  || ',"category_ranking":' || coalesce(s.category_ranking::text, 'null')
  || ',"provider_category":' || coalesce(to_json(s.provider_category)::text, 'null')`);

/** Start cursor: sorts before the brand with most visits. */
const BEFORE_MOST_VISITED = [LARGEST_BIGINT, LARGEST_UUID, 0] as const;

type Row = {
  readonly monthly_visits: string;
  readonly brand_id: string;
  readonly as_of: string;
  /** `null` until the brand's profile is projected; the page omits it. */
  readonly item: string | null;
};

/** Keys of a page, in the order of an index. */
const listKeys = (from: Fragment, where: Fragment, { after, limit }: PageRequest): Fragment => sql.fragment`
  select monthly_visits, brand_id from ${from}
  where ${where} and (monthly_visits, brand_id) < (${sql.list((after ?? BEFORE_MOST_VISITED).slice(0, 2))})
  order by monthly_visits desc, brand_id desc limit ${limit + 1}`;

/** `own` is the JSON of an item after rank and brand. */
const readPage = async (
  db: ReadDatabase,
  keys: Fragment,
  own: Fragment,
  { after, limit }: PageRequest,
): Promise<DatedPage<string>> => {
  const [, , rank = 0] = after ?? BEFORE_MOST_VISITED;
  const found = await db.query<Row>(sql.unsafe`
    select k.monthly_visits, k.brand_id, ${AS_OF} as as_of,
      '{"rank":' || (${rank}::bigint + row_number() over (order by k.monthly_visits desc, k.brand_id desc))
        || ',"brand":' || b.summary || ',"monthly_visits":' || k.monthly_visits
        || ',"estimated_for":"' || s.monthly_visits_on || '",' || ${own} || '}' as item
    from (${keys}) k
    join traffic.site s using (brand_id)
    left join brands.brand b using (brand_id)
    order by k.monthly_visits desc, k.brand_id desc`);
  return datedPageOfRows(found, limit, (last) => [last.monthly_visits, last.brand_id, Number(rank) + limit]);
};

/** The country is that of most traffic. The category may be of any level. */
export const listBrandsOfCountry = (
  db: ReadDatabase,
  { country, categoryId }: { readonly country: string; readonly categoryId?: string },
  page: PageRequest,
): Promise<DatedPage<string>> => {
  const ofCountry = sql.fragment`is_public and monthly_visits is not null and top_country = ${country}`;
  const keysWhere = (where: Fragment) => listKeys(sql.fragment`traffic.site`, where, page);
  if (categoryId === undefined) return readPage(db, keysWhere(ofCountry), RANKING_ITEM, page);
  // A category is on one level; the indexes of the other two have no rows for it and cost one lookup each.
  const keys = sql.fragment`
    select * from (
      (${keysWhere(sql.fragment`${ofCountry} and top_id = ${categoryId}`)})
      union all (${keysWhere(sql.fragment`${ofCountry} and mid_id = ${categoryId}`)})
      union all (${keysWhere(sql.fragment`${ofCountry} and leaf_id = ${categoryId}`)})
    ) level order by monthly_visits desc, brand_id desc limit ${page.limit + 1}`;
  return readPage(db, keys, RANKING_ITEM, page);
};

export const listBrandsOfSegment = (
  db: ReadDatabase,
  segment: AudienceSegment,
  page: PageRequest,
): Promise<DatedPage<string>> => {
  const keys = listKeys(sql.fragment`traffic.audience`, sql.fragment`segment = ${segment}`, page);
  return readPage(db, keys, sql.fragment`'"demographics":' || s.demographics`, page);
};
