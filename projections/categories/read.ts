import { isoTimeSql } from '#contracts/values/time.ts';
import { type DatedPage, SMALLEST_UUID, datedPageOfRows } from '../sql/pages.ts';
import { BASE_URL_SQL } from '#contracts/values/base-url.ts';
import type { PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { quoted } from '../sql/json.ts';
import { raw, sql } from '../sql/sql-tag.ts';

/** A category has one level; the indexes of the other two levels have no rows for it. */
const AS_OF = `(
  select max(newest.at) from (
    (select b.as_of as at from categories.brand b
      where b.is_public and b.top_id = c.category_id and b.as_of is not null order by b.as_of desc limit 1)
    union all
    (select b.as_of from categories.brand b
      where b.is_public and b.mid_id = c.category_id and b.as_of is not null order by b.as_of desc limit 1)
    union all
    (select b.as_of from categories.brand b
      where b.is_public and b.leaf_id = c.category_id and b.as_of is not null order by b.as_of desc limit 1)
  ) newest
)`;

const ITEM = `'{"id":"' || c.category_id || '","slug":"' || c.slug || '","name":' || to_json(coalesce(c.defined_name, c.name))
  || ',"url":"' || ${BASE_URL_SQL} || '/v1/categories/' || c.category_id || '","level":' || c.level
  || ',"parent":' || coalesce('{"id":"' || p.category_id || '","slug":"' || p.slug || '","name":'
    || to_json(coalesce(p.defined_name, p.name)) || '}', 'null')
  || ',"description":' || coalesce(to_json(c.description)::text, 'null')
  || ',"children":' || (select count(*) from categories.category k where k.parent_id = c.category_id)
  || ',"totals":{"brands":' || c.brands || ',"active_ads":' || c.active_ads || ',"total_ads":' || c.total_ads
  || ',"brands_with_traffic":' || c.brands_with_traffic
  || ',"monthly_visits":' || case when c.brands_with_traffic > 0 then c.monthly_visits::text else 'null' end
  || '},"as_of":' || ${quoted(isoTimeSql('n.as_of'))} || '}'`;

const COLUMNS = `c.category_id as id, c.sort_name as key, ${isoTimeSql('n.as_of')} as as_of, ${ITEM} as item`;
const JOINS = `left join categories.category p on p.category_id = c.parent_id
  cross join lateral (select ${AS_OF} as as_of) n`;

const ONE = `
  select ${COLUMNS} from categories.category c ${JOINS} where c.category_id = $1 and c.slug is not null`;

const SUMS = `
  select ${isoTimeSql('n.as_of')} as as_of, c.brands::text, c.brands_with_traffic::text,
    case when c.brands_with_traffic > 0 then c.monthly_visits::text else 'null' end as monthly_visits,
    '{"id":"' || c.category_id || '","slug":"' || c.slug || '","name":' || to_json(coalesce(c.defined_name, c.name)) || '}' as category
  from categories.category c cross join lateral (select ${AS_OF} as as_of) n
  where c.category_id = $1 and c.slug is not null`;

export type CategorySums = {
  readonly as_of: string | null;
  readonly category: string;
  readonly brands: string;
  readonly brands_with_traffic: string;
  readonly monthly_visits: string;
};

export const findCategorySums = async (db: ReadDatabase, categoryId: string): Promise<CategorySums | null> =>
  (await db.query<CategorySums>({ sql: SUMS, values: [categoryId] }))[0] ?? null;

type Row = {
  readonly id: string;
  readonly key: string;
  readonly as_of: string | null;
  readonly item: string;
};
export type CategoryDocument = { readonly item: string; readonly as_of: string | null };

const NEWEST = `select ${isoTimeSql('max(as_of)')} as at from categories.brand where is_public`;

/** `null` without any observation. Send it before the query of the figures. */
export const readNewestOfCategories = async (db: ReadDatabase): Promise<string | null> =>
  (await db.query<{ at: string | null }>({ sql: NEWEST, values: [] }))[0]?.at ?? null;

export const findCategory = async (db: ReadDatabase, categoryId: string): Promise<CategoryDocument | null> =>
  (await db.query<CategoryDocument>({ sql: ONE, values: [categoryId] }))[0] ?? null;

/** Without a filter: top level. `slug` without `parentId`: any level. */
export type CategoryFilter = { readonly parentId?: string; readonly slug?: string };

/** Start cursor: sorts before every row, so the first page needs no special case. */
const BEFORE_FIRST = ['', SMALLEST_UUID] as const;

const pageFrom = (found: readonly Row[], limit: number): DatedPage =>
  datedPageOfRows(found, limit, (last) => [last.key, last.id]);

export const listCategories = async (
  db: ReadDatabase,
  { parentId, slug }: CategoryFilter,
  page: PageRequest,
): Promise<DatedPage> => {
  const where = sql.and([
    sql.fragment`c.slug is not null`,
    parentId !== undefined && sql.fragment`c.parent_id = ${parentId}`,
    slug !== undefined && sql.fragment`c.slug = ${slug}`,
    parentId === undefined && slug === undefined && sql.fragment`c.parent_id is null`,
    sql.fragment`(c.sort_name, c.category_id) > (${sql.list(page.after ?? BEFORE_FIRST)})`,
  ]);
  const rows = await db.query<Row>(sql.unsafe`
    select ${raw(COLUMNS)}
    from (
      select * from categories.category c where ${where}
      order by c.sort_name, c.category_id limit ${page.limit + 1}
    ) c ${raw(JOINS)}
    order by c.sort_name, c.category_id`);
  return pageFrom(rows, page.limit);
};

const SITEMAP = `
  select c.category_id as id, '' as key, ${isoTimeSql('n.updated_at')} as as_of,
    '{"slug":"' || c.slug || '","url":"' || ${BASE_URL_SQL} || '/v1/categories/' || c.category_id
      || '","updated_at":"' || ${isoTimeSql('n.updated_at')} || '"}' as item
  from (
    select * from categories.category c where c.brands > 0 and c.category_id > $1::uuid
    order by c.category_id limit $2
  ) c
  cross join lateral (select greatest(c.named_at, c.defined_at, ${AS_OF}) as updated_at) n
  order by c.category_id`;

export const listCategorySitemap = async (db: ReadDatabase, page: PageRequest): Promise<DatedPage> => {
  const [, afterId] = page.after ?? BEFORE_FIRST;
  return pageFrom(await db.query<Row>({ sql: SITEMAP, values: [afterId, page.limit + 1] }), page.limit);
};
