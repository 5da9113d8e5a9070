import { createSqlTag, type FragmentSqlToken } from 'slonik';
import type { Page, PageRequest, ReadDatabase } from '#contracts/read-database.ts';

const sql = createSqlTag();

export type BrandRef = { readonly id: string } | { readonly slug: string };
export type BrandSort = 'active_ads' | 'new_ads_7d' | 'name';

/** JSON documents of one brand; U+0001 stands for the service's base URL. */
export type BrandDocuments = {
  readonly brand_id: string;
  readonly as_of: string;
  readonly detail: string;
  readonly breakdown: string;
};

const ISO = sql.fragment`'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;

const all = (conditions: readonly FragmentSqlToken[]): FragmentSqlToken =>
  sql.join([sql.fragment`true`, ...conditions], sql.fragment` and `) as unknown as FragmentSqlToken;

export const findBrand = async (db: ReadDatabase, ref: BrandRef): Promise<BrandDocuments | null> => {
  const which = 'id' in ref ? sql.fragment`brand_id = ${ref.id}` : sql.fragment`slug = ${ref.slug}`;
  const rows = await db.query<BrandDocuments>(sql.unsafe`
    select brand_id, to_char(as_of at time zone 'utc', ${ISO}) as as_of, detail, breakdown
    from brands.brand where ${which} and detail is not null`);
  return rows[0] ?? null;
};

export type BrandFilter = {
  readonly categoryId?: string;
  readonly country?: string;
  readonly q?: string;
  readonly letter?: string;
  readonly sort: BrandSort;
};

type ListedRow = { readonly item: string; readonly key: string | number; readonly id: string };

const pageOf = (rows: readonly ListedRow[], limit: number): Page => {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(({ item }) => item),
    next: rows.length > limit && last ? [last.key, last.id] : null,
  };
};

const likePattern = (text: string): string => text.toLowerCase().replace(/[\\%_]/g, '\\$&');

/** How each order sorts: its key, and whether it runs up. */
const ORDERS = {
  active_ads: { key: 'active_ads', type: 'bigint', up: false },
  new_ads_7d: { key: 'new_ads_7d', type: 'bigint', up: false },
  name: { key: 'lower(name)', type: 'text', up: true },
} as const;

/**
 * Public brands, a keyset page; all columns of the key in one direction. The text of the statement follows from
 * which filters are there, so that the few that are in use are prepared once.
 */
export const listBrands = async (
  db: ReadDatabase,
  { categoryId, country, letter, q, sort }: BrandFilter,
  page: PageRequest,
): Promise<Page> => {
  const { key, type, up } = ORDERS[sort];
  const values: unknown[] = [page.limit + 1];
  const given = (value: unknown): string => `$${values.push(value)}`;
  const [afterKey, afterId] = page.after ?? [];
  const conditions = [
    'is_public and summary is not null',
    ...(categoryId === undefined ? [] : [`category_ids @> array[${given(categoryId)}]::uuid[]`]),
    ...(country === undefined ? [] : [`country = ${given(country)}`]),
    ...(letter === undefined ? [] : [`lower(name) like ${given(`${letter}%`)}`]),
    ...(q === undefined ? [] : [`lower(name) like ${given(`%${likePattern(q)}%`)}`]),
    ...(afterId === undefined
      ? []
      : [`(${key}, brand_id) ${up ? '>' : '<'} (${given(afterKey)}::${type}, ${given(afterId)}::uuid)`]),
  ];
  const direction = up ? 'asc' : 'desc';
  const query = {
    sql: `
      select summary as item, ${key}::text as key, brand_id as id from brands.brand
      where ${conditions.join(' and ')} order by ${key} ${direction}, brand_id ${direction} limit $1`,
    values,
  };
  const rows = q === undefined ? await db.query<ListedRow>(query) : await db.slow<ListedRow>(query);
  return pageOf(rows, page.limit);
};

export const listBrandSitemap = async (
  db: ReadDatabase,
  filter: { readonly categoryId?: string },
  page: PageRequest,
): Promise<Page> => {
  const [, afterId] = page.after ?? [];
  const conditions: FragmentSqlToken[] = [sql.fragment`is_public and indexable and summary is not null`];
  if (filter.categoryId) conditions.push(sql.fragment`category_ids @> array[${filter.categoryId}]::uuid[]`);
  if (afterId !== undefined) conditions.push(sql.fragment`brand_id > ${afterId}::uuid`);
  const rows = await db.query<{ slug: string; updated_at: string; id: string }>(sql.unsafe`
    select slug, to_char(coalesce(updated_at, as_of) at time zone 'utc', ${ISO}) as updated_at, brand_id as id
    from brands.brand where ${all(conditions)} order by brand_id limit ${page.limit + 1}`);
  return pageOf(
    rows.map(({ slug, updated_at, id }) => ({
      item: `{"slug":${JSON.stringify(slug)},"url":"\u0001/v1/brands/${slug}","updated_at":"${updated_at}"}`,
      key: 0,
      id,
    })),
    page.limit,
  );
};

export type BrandTexts = { readonly summary: string; readonly reference: string; readonly as_of: string };

export const readBrandSummaries = async (
  db: ReadDatabase,
  ids: readonly string[],
): Promise<ReadonlyMap<string, BrandTexts>> => {
  if (ids.length === 0) return new Map();
  const rows = await db.query<BrandTexts & { brand_id: string }>(sql.unsafe`
    select brand_id, summary, reference, to_char(as_of at time zone 'utc', ${ISO}) as as_of
    from brands.brand where brand_id = any(${sql.array([...ids], 'uuid')}) and summary is not null`);
  return new Map(rows.map(({ brand_id, ...texts }) => [brand_id, texts]));
};

export type SystemFreshness = {
  readonly ads_total: number;
  readonly brands_total: number;
  readonly brands_with_usable_data: number;
  readonly last_scrape_at: string | null;
  readonly data_version: string;
  readonly coverage: readonly { category_slug: string; brands: number; brands_scraped_7d: number }[];
};

/** Usable: scanned at least once. The last seven days count back from the newest scan of the corpus. */
export const readSystemFreshness = async (db: ReadDatabase): Promise<SystemFreshness> => {
  const [totals, coverage, version] = await Promise.all([
    db.query<{ ads: string; brands: string; usable: string; last: string | null }>(sql.unsafe`
      select coalesce(sum(total_ads), 0)::text as ads, count(*)::text as brands, count(scanned_at)::text as usable,
        to_char(max(scanned_at) at time zone 'utc', ${ISO}) as last
      from brands.brand where slug is not null`),
    db.query<{ category_slug: string; brands: string; brands_scraped_7d: string }>(sql.unsafe`
      select category_path -> 0 ->> 'slug' as category_slug, count(*)::text as brands,
        count(*) filter (where scanned_at > newest.at - interval '7 days')::text as brands_scraped_7d
      from brands.brand, (select max(scanned_at) as at from brands.brand) newest
      where slug is not null and category_path -> 0 is not null group by 1 order by 1`),
    db.query<{ version: string }>(sql.unsafe`
      select version || '.' || position as version from projector.projection where name = 'brands'`),
  ]);
  const row = totals[0];
  return {
    ads_total: Number(row?.ads ?? 0),
    brands_total: Number(row?.brands ?? 0),
    brands_with_usable_data: Number(row?.usable ?? 0),
    last_scrape_at: row?.last ?? null,
    data_version: version[0]?.version ?? '0',
    coverage: coverage.map(({ category_slug, brands, brands_scraped_7d }) => ({
      category_slug,
      brands: Number(brands),
      brands_scraped_7d: Number(brands_scraped_7d),
    })),
  };
};
