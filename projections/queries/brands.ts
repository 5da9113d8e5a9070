import DataLoader from 'dataloader';
import { isoTimeSql } from '#contracts/values/time.ts';
import type { PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import type { AudienceSegment } from '#contracts/values/audience-segments.ts';
import { TOOL_MEMBERS_SQL, freshnessText, quoted } from '../sql/json.ts';
import { type ItemsAsOf, readItemsAsOf } from '../shared-tables/applied-scan.ts';
import { type DatedPage, LARGEST_BIGINT, LARGEST_UUID, datedPageOfRows } from '../sql/pages.ts';
import { type Fragment, raw, sql } from '../sql/sql-tag.ts';

export type BrandWithFreshness = {
  readonly detail: string;
  readonly as_of: string;
  readonly freshness: string;
};

/** Replies are as of the older read model; one without a scan of the brand is as of its profile. */
const readBy = (column: 'slug' | 'brand_id'): string => `
  select b.${column} as ref, b.detail, ${isoTimeSql('least(b.as_of, coalesce(f.applied_at, b.profiled_at))')} as as_of, ${freshnessText("'census'")} as freshness
  from brands.brand b
  left join freshness.brand f using (brand_id)
  where b.${column} = any($1) and b.detail is not null`;

const TOGETHER_MAX = 100;

/** The most frequent read: requests of one iteration of the event loop share a statement, which halves its cost under load. */
const loaderBy = <Row extends { readonly ref: string }>(
  statement: string,
): ((db: ReadDatabase) => DataLoader<string, Row | null>) => {
  const loaders = new WeakMap<ReadDatabase, DataLoader<string, Row | null>>();
  const load = (db: ReadDatabase) => async (refs: readonly string[]) => {
    const rows = await db.query<Row>({ sql: statement, values: [refs] });
    const found = new Map(rows.map((row) => [row.ref, row]));
    return refs.map((ref) => found.get(ref) ?? null);
  };
  return (db) => {
    let loader = loaders.get(db);
    if (!loader) {
      loader = new DataLoader(load(db), {
        cache: false,
        maxBatchSize: TOGETHER_MAX,
        batchScheduleFn: setImmediate,
      });
      loaders.set(db, loader);
    }
    return loader;
  };
};

type Found = BrandWithFreshness & { readonly ref: string };

const bySlug = loaderBy<Found>(readBy('slug'));
const byId = loaderBy<Found>(readBy('brand_id'));

export const findBrandWithFreshness = (
  db: ReadDatabase,
  ref: { readonly id: string } | { readonly slug: string },
): Promise<BrandWithFreshness | null> => ('id' in ref ? byId(db).load(ref.id) : bySlug(db).load(ref.slug));

const slugById = loaderBy<{ readonly ref: string; readonly slug: string }>(
  'select brand_id as ref, slug from brands.brand where brand_id = any($1) and detail is not null',
);

/** `null` until the brand is shown. */
export const readBrandSlug = async (db: ReadDatabase, brandId: string): Promise<string | null> =>
  (await slugById(db).load(brandId))?.slug ?? null;

const SIMILAR = `
  select '{"domain":' || to_json(x.domain) || ',"affinity":' || x.affinity
      || ',"provider_category":' || coalesce(to_json(coalesce(x.provider_category, t.provider_category))::text, 'null')
      || ',"brand":' || coalesce(b.reference, 'null')
      || ',"monthly_visits":' || coalesce(t.monthly_visits::text, 'null')
      || ',"global_ranking":' || coalesce(t.global_ranking::text, 'null') || '}' as item
  from traffic.site s
  cross join lateral (
    select * from rows from (
      jsonb_to_recordset(s.similar_sites) as (domain text, brand_id uuid, affinity float8, provider_category text)
    ) with ordinality as r (domain, brand_id, affinity, provider_category, place) limit $2
  ) x
  left join traffic.site t on t.brand_id = x.brand_id
  left join brands.brand b on b.brand_id = x.brand_id and b.is_public
  where s.brand_id = $1 order by x.place`;

const SIMILAR_AS_OF = `
  select array(${SIMILAR}) as items,
    (select ${isoTimeSql('observed_at')} from traffic.site where brand_id = $1) as "asOf"`;

/** Highest affinity first. `asOf` is `null` before the first estimate. */
export const readSimilarSites = (db: ReadDatabase, brandId: string, limit: number): Promise<ItemsAsOf> =>
  readItemsAsOf(db, SIMILAR_AS_OF, [brandId, limit]);

const AS_OF = raw(isoTimeSql('s.observed_at'));
const RANKING_ITEM = raw(`'"country":"' || s.top_country || '","country_share":' || s.top_country_share
  || ',"global_ranking":' || coalesce(s.global_ranking::text, 'null')
  || ',"category_ranking":' || coalesce(s.category_ranking::text, 'null')
  || ',"provider_category":' || coalesce(to_json(s.provider_category)::text, 'null')`);

/** Start cursor: sorts before the brand with most visits. */
const BEFORE_MOST_VISITED = [LARGEST_BIGINT, LARGEST_UUID, 0] as const;

type VisitsRow = {
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
  const found = await db.query<VisitsRow>(sql.unsafe`
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

const SHOWN = {
  asOf: raw(isoTimeSql('b.scanned_at')),
  estimatedFor: raw(quoted('b.monthly_visits_on')),
  topCountry: raw(quoted('k.top_country')),
  missingSince: raw(quoted('k.missing_since')),
};

type ToolBrandRow = {
  readonly monthly_visits: string;
  readonly brand_id: string;
  readonly as_of: string | null;
  readonly item: string | null;
};

/** An index gives the keys in page order, brands without an estimate last. Omits brands without a profile. */
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
  const found = await db.query<ToolBrandRow>(sql.unsafe`
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

/** Maximum tools and page types of one category. */
export const CATEGORY_TOOLS_MAX = 10;
export const CATEGORY_PAGE_TYPES_MAX = 10;

/** Landing pages are listed under the ids of their brands' categories. */
const STATS = `
  with page_type as (
    select page_type, count(*) as urls from pages.page_scope where scope_id = $1 group by page_type
  )
  select (select coalesce(sum(urls), 0)::text from page_type) as landing_urls,
    (select coalesce(string_agg('{"page_type":"' || page_type || '","landing_urls":' || urls || '}', ','
        order by urls desc, page_type), '')
      from (select * from page_type where page_type is not null order by urls desc, page_type
        limit ${CATEGORY_PAGE_TYPES_MAX}) p) as page_types,
    (select coalesce(string_agg('{"tool":{"id":"' || t.tool_id || '",' || ${TOOL_MEMBERS_SQL} || '},"brands":' || a.brands || '}', ','
        order by a.brands desc, a.slug), '')
      from (select slug, brands from category_tools.adoption where category_id = $1 and brands > 0
        order by brands desc, slug limit ${CATEGORY_TOOLS_MAX}) a
      join category_tools.tool t using (slug)) as tools`;

export type CategoryStatsTexts = {
  readonly landing_urls: string;
  readonly page_types: string;
  readonly tools: string;
};

export const readCategoryStats = async (db: ReadDatabase, categoryId: string): Promise<CategoryStatsTexts> =>
  (await db.query<CategoryStatsTexts>({ sql: STATS, values: [categoryId] }))[0] ?? {
    landing_urls: '0',
    page_types: '',
    tools: '',
  };
