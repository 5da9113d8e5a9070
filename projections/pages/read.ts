import { isoTimeMicrosSql, isoTimeSql } from '#contracts/values/time.ts';
import { pageOfRows } from '../sql/keyset-page.ts';
import { appendFields, joinObjects } from '#contracts/values/json-text.ts';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { BRAND_REFERENCE_SQL } from '../shared-tables/brand-reference.ts';
import { readAdaptivePage } from '../sql/adaptive-page.ts';
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

const ORDERS = {
  newest: {
    column: 's.first_seen_at',
    type: 'timestamptz',
    text: isoTimeMicrosSql('s.place'),
  },
  popular: { column: 's.total_ads', type: 'bigint', text: 's.place::text' },
} as const;

const likePattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** Without a filter, live landing pages on hosts of public US brands. */
export const listPages = async (
  db: ReadDatabase,
  { brandId, categoryId, pageType, urlPart, sort }: PageFilter,
  page: PageRequest,
): Promise<Page> => {
  const { column, type, text } = ORDERS[sort];
  const values: unknown[] = [];
  const parameter = (value: unknown): string => `$${values.push(value) + 1}`;
  const scope = parameter(brandId ?? categoryId ?? OWN_HOSTS_SCOPE);
  const [afterKey, afterId] = page.after ?? [];
  const where = [
    `s.scope_id = ${scope}`,
    ...(pageType === undefined ? [] : [`s.page_type = ${parameter(pageType)}`]),
    ...(afterId === undefined
      ? []
      : [`(${column}, s.landing_page_id) < (${parameter(afterKey)}::${type}, ${parameter(afterId)}::uuid)`]),
    ...(brandId === undefined || categoryId === undefined
      ? []
      : [
          // Looks up each landing page of the brand, because its category may have a hundred times as many.
          `exists (
            select from pages.page_scope c where c.landing_page_id = s.landing_page_id and c.scope_id = ${parameter(categoryId)} offset 0)`,
        ]),
  ];
  const rows = await readAdaptivePage<PageRow & { readonly key: string }>(
    db,
    {
      scan: {
        columns: `s.landing_page_id, ${column} as place`,
        from: 'pages.page_scope s',
        where,
        order: `${column} desc, s.landing_page_id desc`,
      },
      show: (of) => `select ${COLUMNS}, ${text} as key
        from ${of} s join pages.page p using (landing_page_id) left join pages.brand b on b.brand_id = p.owner_id`,
      filterTable: { table: 'pages.address', alias: 'w', key: 'landing_page_id' },
      conditions: urlPart === undefined ? [] : [`w.page_url ilike ${parameter(likePattern(urlPart))}`],
      order: 's.place desc, s.landing_page_id desc',
      values,
    },
    page,
  );
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

export type FoundPage = { readonly json: string; readonly as_of: string };

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
