import { isoTimeMicrosSql, isoTimeSql } from '#contracts/values/time.ts';
import { pageOfRows, readAdaptivePage } from '../sql/pages.ts';
import { appendFields, joinObjects } from '#contracts/values/json-text.ts';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { BRAND_REFERENCE_SQL } from '../shared-tables/brand-reference.ts';
import { raw, sql } from '../sql/sql-tag.ts';
import { OWN_HOSTS_SCOPE } from './statements.ts';

const BRANDS_OF_PAGE_MAX = 20;

type PageRow = {
  readonly landing_page_id: string;
  readonly page_url: string;
  readonly host: string;
  readonly title: string | null;
  readonly page_type: string | null;
  readonly confidence: number | null;
  readonly http_status: number | null;
  readonly active_ads: string;
  readonly total_ads: string;
  readonly first_seen_at: string;
  readonly seen_at: string;
  readonly brand: string | null;
};

const COLUMNS = `p.landing_page_id, p.page_url, p.host, p.title, p.page_type, p.confidence, p.http_status,
  p.active_ads::text, p.total_ads::text, ${isoTimeSql('p.first_seen_at')} as first_seen_at, ${isoTimeSql('p.seen_at')} as seen_at,
  case when b.slug is not null and b.is_public then ${BRAND_REFERENCE_SQL} end as brand`;

/** HTTP statuses of a removed page. Any other status only tells that a visitor was rejected. */
const GONE: readonly (number | null)[] = [404, 410];

const summaryOf = (row: PageRow): string => {
  const text = JSON.stringify({
    id: row.landing_page_id,
    page_url: row.page_url,
    host: row.host,
    title: row.title,
    page_type: row.page_type,
    page_type_confidence: row.confidence,
    live: !GONE.includes(row.http_status),
    active_ads: Number(row.active_ads),
    total_ads: Number(row.total_ads),
    first_seen_at: row.first_seen_at,
    as_of: row.seen_at,
  });
  return appendFields(text, {
    brand: row.brand ?? 'null',
    url: `"${BASE_URL_MARK}/v1/pages/${row.landing_page_id}"`,
  });
};

export type PageSort = 'newest' | 'popular';

export type PageFilter = {
  readonly brandId?: string;
  readonly categoryId?: string;
  readonly pageType?: string;
  /** Case-insensitive. */
  readonly urlPart?: string;
  readonly sort: PageSort;
};

const sortedBy = (column: string, text: string) => ({
  scan: {
    columns: raw(`s.landing_page_id, ${column} as place`),
    from: sql.fragment`pages.page_scope s`,
    order: raw(`${column} desc, s.landing_page_id desc`),
  },
  filterTable: { from: sql.fragment`pages.address w`, key: sql.fragment`landing_page_id` },
  show: {
    columns: raw(`${COLUMNS}, ${text} as key`),
    joins: sql.fragment`join pages.page p using (landing_page_id) left join pages.brand b on b.brand_id = p.owner_id`,
  },
  order: sql.fragment`s.place desc, s.landing_page_id desc`,
  sortKey: raw(column),
});
const LISTS = {
  newest: sortedBy('s.first_seen_at', isoTimeMicrosSql('s.place')),
  popular: sortedBy('s.total_ads', 's.place::text'),
};

const likePattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** Without a filter, live landing pages on hosts of public US brands. */
export const listPages = async (
  db: ReadDatabase,
  { brandId, categoryId, pageType, urlPart, sort }: PageFilter,
  page: PageRequest,
): Promise<Page> => {
  const list = LISTS[sort];
  const where = sql.and([
    sql.fragment`s.scope_id = ${brandId ?? categoryId ?? OWN_HOSTS_SCOPE}`,
    pageType !== undefined && sql.fragment`s.page_type = ${pageType}`,
    page.after && sql.fragment`(${list.sortKey}, s.landing_page_id) < (${sql.list(page.after)})`,
    // Looks up each landing page of the brand, because its category may have a hundred times as many.
    brandId !== undefined &&
      categoryId !== undefined &&
      sql.fragment`exists (
        select from pages.page_scope c where c.landing_page_id = s.landing_page_id and c.scope_id = ${categoryId} offset 0)`,
  ]);
  const conditions = urlPart === undefined ? [] : [sql.fragment`w.page_url ilike ${likePattern(urlPart)}`];
  type Row = PageRow & { readonly key: string };
  const rows = await readAdaptivePage<Row>(db, list, { where, conditions }, page);
  return pageOfRows(rows, page.limit, {
    toItem: summaryOf,
    cursorOf: (last) => [last.key, last.landing_page_id],
  });
};

const DETAIL_COLUMNS = `p.description, p.language, p.canonical_url, p.headings, p.cta_texts,
  ${isoTimeSql('p.scraped_at')} as scraped_at, ${isoTimeSql('p.classified_at')} as classified_at`;

const BRANDS = `left join lateral (
  select '[' || string_agg(item, ',' order by active_ads desc, total_ads desc, brand_id) || ']' as brands from (
    select r.brand_id, r.active_ads, r.total_ads, '{"brand":' || ${BRAND_REFERENCE_SQL} || ',"active_ads":'
      || r.active_ads || ',"total_ads":' || r.total_ads || '}' as item
    from pages.page_brand r join pages.brand b using (brand_id) where r.landing_page_id = p.landing_page_id and b.is_public
    order by r.active_ads desc, r.total_ads desc, r.brand_id limit ${BRANDS_OF_PAGE_MAX}
  ) r
) r on true`;

type DetailRow = PageRow & {
  readonly description: string | null;
  readonly language: string | null;
  readonly canonical_url: string | null;
  readonly headings: readonly string[] | null;
  readonly cta_texts: readonly string[] | null;
  readonly scraped_at: string | null;
  readonly classified_at: string | null;
  readonly brands: string | null;
};

export type FoundPage = { readonly id: string; readonly json: string; readonly as_of: string };

const detailOf = (row: DetailRow): FoundPage => {
  const more = JSON.stringify({
    description: row.description,
    language: row.language,
    canonical_url: row.canonical_url,
    http_status: row.http_status,
    headings: row.headings,
    cta_texts: row.cta_texts,
    scraped_at: row.scraped_at,
    classified_at: row.classified_at,
  });
  return {
    id: row.landing_page_id,
    json: joinObjects(appendFields(summaryOf(row), { brands: row.brands ?? '[]' }), more),
    as_of: row.seen_at,
  };
};

/** Keeps the order of the ids; omits unknown pages and those without a public brand. */
export const findPages = async (db: ReadDatabase, ids: readonly string[]): Promise<readonly FoundPage[]> => {
  const rows = await db.query<DetailRow>({
    sql: `
      select ${COLUMNS}, ${DETAIL_COLUMNS}, r.brands
      from unnest($1::uuid[]) with ordinality as t(landing_page_id, place)
      join pages.page p using (landing_page_id) left join pages.brand b on b.brand_id = p.owner_id ${BRANDS}
      where p.is_public order by t.place`,
    values: [ids],
  });
  return rows.map(detailOf);
};

export const listBrandPageUrls = async (
  db: ReadDatabase,
  domain: string,
  limit: number,
): Promise<readonly string[]> => {
  const rows = await db.query<{ page_url: string }>({
    sql: `select p.page_url
          from pages.brand b join pages.page_brand l on l.brand_id = b.brand_id
            join pages.page p on p.landing_page_id = l.landing_page_id
          where b.domain = $1 and p.page_url is not null
          order by l.active_ads desc, l.total_ads desc, p.landing_page_id limit $2`,
    values: [domain, limit],
  });
  return rows.map(({ page_url }) => page_url);
};
