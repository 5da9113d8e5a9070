import { isoTimeSql } from '#contracts/values/time.ts';
import { WINDOW_DAYS, windowStartSql } from '#contracts/values/windows.ts';
import { SMALLEST_UUID, pageOfRows, readAdaptivePage } from '../sql/pages.ts';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { type Fragment, raw, sql } from '../sql/sql-tag.ts';

export type BrandRef = { readonly id: string } | { readonly slug: string };
export type BrandSort = 'active_ads' | 'new_ads_7d' | 'name';

export type BrandDocuments = {
  readonly brand_id: string;
  readonly as_of: string;
  /** `as_of` until the read model has applied a scan of the brand. */
  readonly profiled_at: string;
  readonly detail: string;
  readonly breakdown: string;
};

export const findBrand = async (db: ReadDatabase, ref: BrandRef): Promise<BrandDocuments | null> => {
  const [column, value] = 'id' in ref ? ['brand_id', ref.id] : ['slug', ref.slug];
  const rows = await db.query<BrandDocuments>({
    sql: `
    select brand_id, ${isoTimeSql('as_of')} as as_of, ${isoTimeSql('profiled_at')} as profiled_at, detail, breakdown
    from brands.brand where ${column} = $1 and detail is not null`,
    values: [value],
  });
  return rows[0] ?? null;
};

/** `null` until the brand and its domain are projected. */
export const readBrandDomain = async (db: ReadDatabase, brandId: string): Promise<string | null> =>
  (
    await db.query<{ domain: string | null }>({
      sql: 'select domain from brands.brand where brand_id = $1',
      values: [brandId],
    })
  )[0]?.domain ?? null;

export type BrandFilter = {
  readonly categoryId?: string;
  readonly country?: string;
  readonly q?: string;
  readonly letter?: string;
  readonly sort: BrandSort;
};

type ListedRow = { readonly item: string; readonly key: string; readonly id: string };

const pageOf = (
  rows: readonly { readonly item: string; readonly key: string | number; readonly id: string }[],
  limit: number,
): Page => pageOfRows(rows, limit, { toItem: ({ item }) => item, cursorOf: (last) => [last.key, last.id] });

/** Lowers letter by letter, as Postgres does. JavaScript considers neighbours and may return two letters for one. */
const lowered = (text: string): string =>
  Array.from(text, (letter) => Array.from(letter.toLowerCase())[0]).join('');

const likePattern = (text: string): string => lowered(text).replace(/[\\%_]/g, '\\$&');

/** Equals the condition of the order indexes. Every brand with a slug has a summary. */
const IS_LISTED = sql.fragment`s.is_public and s.slug is not null`;
/** Equals the condition of the indexes over names and countries. */
const IS_PUBLIC = sql.fragment`b.is_public and b.slug is not null`;

const filterTable = { from: sql.fragment`brands.brand b`, key: sql.fragment`brand_id` };
const joins = sql.fragment`join brands.brand p using (brand_id)`;

/** All columns of the key sort in one direction. */
const sortedBy = (key: string, direction: 'asc' | 'desc') => ({
  scan: {
    columns: raw(`s.brand_id, ${key} as place`),
    from: sql.fragment`brands.brand s`,
    order: raw(`${key} ${direction}, s.brand_id ${direction}`),
  },
  filterTable,
  show: { columns: sql.fragment`p.summary as item, s.place::text as key, s.brand_id as id`, joins },
  order: raw(`s.place ${direction}, s.brand_id ${direction}`),
  sortKey: raw(key),
  follows: raw(direction === 'asc' ? '>' : '<'),
});
const LISTS = {
  active_ads: sortedBy('s.active_ads', 'desc'),
  new_ads_7d: sortedBy('s.new_ads_7d', 'desc'),
  name: sortedBy('lower(s.name)', 'asc'),
};

const TRIGRAM_CHARACTERS = 3;
/** The trigram index returns every brand for a shorter text, so the concatenation keeps the planner from using it. */
const namePart = (q: string): Fragment =>
  q.length < TRIGRAM_CHARACTERS ? sql.fragment`(lower(b.name) || '')` : sql.fragment`lower(b.name)`;

const nextLetter = (letter: string): string => String.fromCharCode(letter.charCodeAt(0) + 1);

const beginsWith = (name: Fragment, letter: string): Fragment =>
  sql.fragment`${name} >= ${letter} and ${name} < ${nextLetter(letter)}`;

const inCategory = (categoryId: string): Fragment =>
  sql.fragment`b.category_ids @> array[${categoryId}]::uuid[]`;

export const listBrands = async (
  db: ReadDatabase,
  { categoryId, country, letter, q, sort }: BrandFilter,
  page: PageRequest,
): Promise<Page> => {
  const list = LISTS[sort];
  // Each of these filters has an index in the order of one sort, which serves both.
  const scansCountry = sort === 'active_ads';
  const scansLetter = sort === 'name';
  const where = sql.and([
    IS_LISTED,
    country !== undefined && scansCountry && sql.fragment`s.country = ${country}`,
    letter !== undefined && scansLetter && beginsWith(list.sortKey, letter),
    page.after && sql.fragment`(${list.sortKey}, s.brand_id) ${list.follows} (${sql.list(page.after)})`,
  ]);
  const conditions = [
    categoryId !== undefined && inCategory(categoryId),
    country !== undefined && !scansCountry && sql.fragment`b.country = ${country}`,
    letter !== undefined && !scansLetter && beginsWith(sql.fragment`lower(b.name)`, letter),
    q !== undefined && sql.fragment`${namePart(q)} like ${`%${likePattern(q)}%`}`,
  ].filter((one) => one !== false);
  const filter = { where, conditions: conditions.length === 0 ? [] : [IS_PUBLIC, ...conditions] };
  const rows = await readAdaptivePage<ListedRow>(db, list, filter, page);
  return pageOf(rows, page.limit);
};

const SITEMAP = {
  scan: {
    columns: sql.fragment`s.brand_id`,
    from: sql.fragment`brands.brand s`,
    order: sql.fragment`s.brand_id`,
  },
  filterTable,
  show: {
    columns: raw(`p.slug, ${isoTimeSql('coalesce(p.updated_at, p.as_of)')} as updated_at,
      s.brand_id as id, '' as key`),
    joins,
  },
  order: sql.fragment`s.brand_id`,
};

export const listBrandSitemap = async (
  db: ReadDatabase,
  { categoryId }: { readonly categoryId?: string },
  page: PageRequest,
): Promise<Page> => {
  const [, afterId = SMALLEST_UUID] = page.after ?? [];
  const filter = {
    where: sql.fragment`s.indexable and ${IS_LISTED} and s.brand_id > ${afterId}::uuid`,
    conditions: categoryId === undefined ? [] : [IS_PUBLIC, inCategory(categoryId)],
  };
  type Row = { slug: string; updated_at: string; id: string; key: string };
  const rows = await readAdaptivePage<Row>(db, SITEMAP, filter, page);
  return pageOf(
    rows.map(({ slug, updated_at, id }) => ({
      item: `{"slug":${JSON.stringify(slug)},"url":"${BASE_URL_MARK}/v1/brands/${slug}","updated_at":"${updated_at}"}`,
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
  const rows = await db.query<BrandTexts & { brand_id: string }>({
    sql: `
    select brand_id, summary, reference, ${isoTimeSql('as_of')} as as_of
    from brands.brand where brand_id = any($1::"uuid"[]) and summary is not null`,
    values: [ids],
  });
  return new Map(rows.map(({ brand_id, ...texts }) => [brand_id, texts]));
};

// Searches profiles only while no brand was ever scanned.
const NEWEST = `
  select coalesce((select ${isoTimeSql('max(scanned_at)')} from brands.counted_brand),
    (select ${isoTimeSql('max(profiled_at)')} from brands.brand)) as at`;

/** `null` without any observation. Send it before the query of the figures. */
export const readNewestObservation = async (db: ReadDatabase): Promise<string | null> =>
  (await db.query<{ at: string | null }>({ sql: NEWEST, values: [] }))[0]?.at ?? null;

export type SystemFreshness = {
  readonly ads_total: number;
  readonly brands_total: number;
  readonly brands_with_usable_data: number;
  readonly last_scrape_at: string | null;
  readonly data_version: string;
  readonly coverage: readonly { category_slug: string; brands: number; brands_scraped_7d: number }[];
};

type CountedRow = {
  readonly category_slug: string;
  readonly brands: string;
  readonly ads: string;
  readonly usable: string;
  readonly scraped_7d: string;
  readonly last: string | null;
};

/** Windows begin at midnight UTC, so whole hours suffice. */
const COUNTED = `
  with newest as materialized (
    select max(scanned_at) as at, ${windowStartSql('max(scanned_at)', WINDOW_DAYS.week)} as since
    from brands.counted_brand
  )
  select c.category_slug, sum(c.brands)::text as brands, sum(c.ads)::text as ads,
    coalesce(sum(c.brands) filter (where c.scanned_hour > '-infinity'), 0)::text as usable,
    coalesce(sum(c.brands) filter (where c.scanned_hour >= n.since), 0)::text as scraped_7d,
    ${isoTimeSql('min(n.at)')} as last
  from brands.corpus_count c cross join newest n
  group by c.category_slug order by c.category_slug`;

/** `facts_applied` counts events of brands only: workspace commands do not change the snapshot. */
const VERSION = `select version || '.' || facts_applied as version from projector.projection where name = 'brands'`;

/** Usable brands were scanned at least once. The last seven days end with the corpus' newest scan. */
export const readSystemFreshness = async (db: ReadDatabase): Promise<SystemFreshness> => {
  const [rows, version] = await Promise.all([
    db.query<CountedRow>({ sql: COUNTED, values: [] }),
    db.query<{ version: string }>({ sql: VERSION, values: [] }),
  ]);
  const sumOf = (count: 'ads' | 'brands' | 'usable'): number =>
    rows.reduce((sum, row) => sum + Number(row[count]), 0);
  return {
    ads_total: sumOf('ads'),
    brands_total: sumOf('brands'),
    brands_with_usable_data: sumOf('usable'),
    last_scrape_at: rows[0]?.last ?? null,
    data_version: version[0]?.version ?? '0',
    coverage: rows
      .filter(({ category_slug }) => category_slug !== '')
      .map(({ category_slug, brands, scraped_7d }) => ({
        category_slug,
        brands: Number(brands),
        brands_scraped_7d: Number(scraped_7d),
      })),
  };
};
