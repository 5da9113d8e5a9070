import { isoTimeSql } from '#contracts/values/time.ts';
import { cutPage, LARGEST_BIGINT, LARGEST_UUID } from '../sql/keyset-page.ts';
import type { AudienceSegment } from '#contracts/values/audience-segments.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';

/**
 * `keys` finds the brands along an index, in page order. `own` is the JSON of an item after rank and brand. `$1` and
 * `$2` are the cursor, `$3` the rank before the page, `$4` the row limit.
 */
const ranked = (keys: string, own: string): string => `
  select k.monthly_visits, k.brand_id, ${isoTimeSql('s.observed_at')} as as_of,
    '{"rank":' || ($3::bigint + row_number() over (order by k.monthly_visits desc, k.brand_id desc))
      || ',"brand":' || b.summary || ',"monthly_visits":' || k.monthly_visits
      || ',"estimated_for":"' || s.monthly_visits_on || '",' || ${own} || '}' as item
  from (${keys}) k
  join traffic.site s using (brand_id)
  left join brands.brand b using (brand_id)
  order by k.monthly_visits desc, k.brand_id desc`;

const AFTER = `(monthly_visits, brand_id) < ($1::bigint, $2::uuid)
  order by monthly_visits desc, brand_id desc limit $4`;

const ofCountry = (column: string | null): string => `
  select monthly_visits, brand_id from traffic.site
  where is_public and monthly_visits is not null and top_country = $5
    ${column === null ? '' : `and ${column} = $6`} and ${AFTER}`;

const RANKING_ITEM = `'"country":"' || s.top_country || '","country_share":' || s.top_country_share
  || ',"global_ranking":' || coalesce(s.global_ranking::text, 'null')
  || ',"category_ranking":' || coalesce(s.category_ranking::text, 'null')
  || ',"provider_category":' || coalesce(to_json(s.provider_category)::text, 'null')`;

const OF_COUNTRY = ranked(ofCountry(null), RANKING_ITEM);
// A category is on one level; the indexes of the other two have no rows for it and cost one lookup each.
const OF_CATEGORY = ranked(
  `select * from (
    (${ofCountry('top_id')}) union all (${ofCountry('mid_id')}) union all (${ofCountry('leaf_id')})
  ) level order by monthly_visits desc, brand_id desc limit $4`,
  RANKING_ITEM,
);
const OF_SEGMENT = ranked(
  `select monthly_visits, brand_id from traffic.audience where segment = $5 and ${AFTER}`,
  `'"demographics":' || s.demographics`,
);

/** Start cursor: sorts before the brand with most visits. */
const BEFORE_MOST_VISITED = [LARGEST_BIGINT, LARGEST_UUID, 0] as const;

type Row = {
  readonly monthly_visits: string;
  readonly brand_id: string;
  readonly as_of: string;
  /** `null` until the brand's profile is projected; the page omits it. */
  readonly item: string | null;
};

export type PageByVisits = Page & { readonly asOf: readonly string[] };

const readPage = async (
  db: ReadDatabase,
  sql: string,
  filter: readonly string[],
  page: PageRequest,
): Promise<PageByVisits> => {
  const [visits, brandId, rank = 0] = page.after ?? BEFORE_MOST_VISITED;
  const values = [visits, brandId, rank, page.limit + 1, ...filter];
  const found = await db.query<Row>({ sql, values });
  const { rows, next } = cutPage(found, page.limit, (last) => [
    last.monthly_visits,
    last.brand_id,
    Number(rank) + page.limit,
  ]);
  return {
    items: rows.flatMap(({ item }) => (item === null ? [] : [item])),
    next,
    asOf: rows.map((row) => row.as_of),
  };
};

/** The country is that of most traffic. The category may be of any level. */
export const listBrandsOfCountry = (
  db: ReadDatabase,
  filter: { readonly country: string; readonly categoryId?: string },
  page: PageRequest,
): Promise<PageByVisits> =>
  filter.categoryId === undefined
    ? readPage(db, OF_COUNTRY, [filter.country], page)
    : readPage(db, OF_CATEGORY, [filter.country, filter.categoryId], page);

export const listBrandsOfSegment = (
  db: ReadDatabase,
  segment: AudienceSegment,
  page: PageRequest,
): Promise<PageByVisits> => readPage(db, OF_SEGMENT, [segment], page);
