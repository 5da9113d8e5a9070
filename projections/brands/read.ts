import { isoTimeSql } from '#contracts/values/time.ts';
import { WINDOW_DAYS, windowStartSql } from '#contracts/values/windows.ts';
import { pageOfRows, SMALLEST_UUID } from '../sql/keyset-page.ts';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { readAdaptivePage } from '../sql/adaptive-page.ts';

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

const ORDERS = {
  active_ads: { key: 's.active_ads', type: 'bigint', up: false },
  new_ads_7d: { key: 's.new_ads_7d', type: 'bigint', up: false },
  name: { key: 'lower(s.name)', type: 'text', up: true },
} as const;

/** Equals the condition of the order indexes. Every brand with a slug has a summary. */
const IS_LISTED = 's.is_public and s.slug is not null';
/** Equals the condition of the indexes over names and countries. */
const IS_PUBLIC = 'b.is_public and b.slug is not null';
const BRANDS_FILTER_TABLE = { table: 'brands.brand', alias: 'b', key: 'brand_id' } as const;

const TRIGRAM_CHARACTERS = 3;
/** The trigram index returns every brand for a shorter text, so the concatenation keeps the planner from using it. */
const namePart = (q: string): string =>
  q.length < TRIGRAM_CHARACTERS ? `(lower(b.name) || '')` : 'lower(b.name)';

const nextLetter = (letter: string): string => String.fromCharCode(letter.charCodeAt(0) + 1);

/** All columns of the key sort in one direction. */
export const listBrands = async (
  db: ReadDatabase,
  { categoryId, country, letter, q, sort }: BrandFilter,
  page: PageRequest,
): Promise<Page> => {
  const { key, type, up } = ORDERS[sort];
  const values: unknown[] = [];
  const parameter = (value: unknown): string => `$${values.push(value) + 1}`;
  const beginsWith = (name: string, first: string): string =>
    `${name} >= ${parameter(first)} and ${name} < ${parameter(nextLetter(first))}`;
  const [afterKey, afterId] = page.after ?? [];
  // Each of these filters has an index in the order of one sort, which serves both.
  const scansCountry = country !== undefined && sort === 'active_ads';
  const scansLetter = letter !== undefined && sort === 'name';
  const where = [
    IS_LISTED,
    ...(scansCountry ? [`s.country = ${parameter(country)}`] : []),
    ...(scansLetter ? [beginsWith('lower(s.name)', letter)] : []),
    ...(afterId === undefined
      ? []
      : [
          `(${key}, s.brand_id) ${up ? '>' : '<'} (${parameter(afterKey)}::${type}, ${parameter(afterId)}::uuid)`,
        ]),
  ];
  const conditions = [
    ...(categoryId === undefined ? [] : [`b.category_ids @> array[${parameter(categoryId)}]::uuid[]`]),
    ...(country === undefined || scansCountry ? [] : [`b.country = ${parameter(country)}`]),
    ...(letter === undefined || scansLetter ? [] : [beginsWith('lower(b.name)', letter)]),
    ...(q === undefined ? [] : [`${namePart(q)} like ${parameter(`%${likePattern(q)}%`)}`]),
  ];
  const direction = up ? 'asc' : 'desc';
  const rows = await readAdaptivePage<ListedRow>(
    db,
    {
      scan: {
        columns: `s.brand_id, ${key} as place`,
        from: 'brands.brand s',
        where,
        order: `${key} ${direction}, s.brand_id ${direction}`,
      },
      show: (of) =>
        `select p.summary as item, s.place::text as key, s.brand_id as id from ${of} s join brands.brand p using (brand_id)`,
      filterTable: BRANDS_FILTER_TABLE,
      conditions: conditions.length === 0 ? [] : [IS_PUBLIC, ...conditions],
      order: `s.place ${direction}, s.brand_id ${direction}`,
      values,
    },
    page,
  );
  return pageOf(rows, page.limit);
};

export const listBrandSitemap = async (
  db: ReadDatabase,
  { categoryId }: { readonly categoryId?: string },
  page: PageRequest,
): Promise<Page> => {
  const [, afterId = SMALLEST_UUID] = page.after ?? [];
  const values = [afterId, ...(categoryId === undefined ? [] : [categoryId])];
  const rows = await readAdaptivePage<{ slug: string; updated_at: string; id: string; key: string }>(
    db,
    {
      scan: {
        columns: 's.brand_id',
        from: 'brands.brand s',
        where: ['s.indexable', IS_LISTED, 's.brand_id > $2::uuid'],
        order: 's.brand_id',
      },
      show: (of) => `select p.slug, ${isoTimeSql('coalesce(p.updated_at, p.as_of)')} as updated_at,
        s.brand_id as id, '' as key from ${of} s join brands.brand p using (brand_id)`,
      filterTable: BRANDS_FILTER_TABLE,
      conditions: categoryId === undefined ? [] : [IS_PUBLIC, 'b.category_ids @> array[$3]::uuid[]'],
      order: 's.brand_id',
      values,
    },
    page,
  );
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
