import { isoTimeSql } from '#contracts/values/time.ts';
import { pageOfRows } from '../sql/pages.ts';
import { BASE_URL_SQL } from '#contracts/values/base-url.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { OPERATOR_ENTRIES_MAX, OPERATOR_OTHER_BRANDS_MAX } from '#contracts/resources/corpus/operator.ts';
import { type ItemsAsOf, readItemsAsOf } from '../shared-tables/applied-scan.ts';
import { BRAND_REFERENCE_SQL } from '../shared-tables/brand-reference.ts';
import { raw, sql } from '../sql/sql-tag.ts';

const SUMMARY = `
  '"id":"' || o.operator_id || '","name":' || to_json(o.name) || ',"country":' || coalesce(to_json(o.country)::text, 'null')
    || ',"domains":' || o.domains || ',"pages":' || o.pages || ',"observed_at":"' || ${isoTimeSql('o.observed_at')}
    || '","url":"' || ${BASE_URL_SQL} || '/v1/operators/' || o.operator_id || '"'`;

/** Public brands whose domains were observed with `o`, each once. */
const PUBLIC_BRANDS = `
  select distinct b.* from operators.association a join operators.brand b using (brand_id)
  where a.operator_id = o.operator_id and b.is_public and b.slug is not null`;

const referencesOf = (rows: string, limit: number): string => `'[' || coalesce((
  select string_agg(${BRAND_REFERENCE_SQL}, ',' order by lower(b.name) collate "C", b.brand_id)
  from (select * from (${rows}) b order by lower(b.name) collate "C", b.brand_id limit ${limit}) b), '') || ']'`;

/** Newest observation of any operator as ISO text; null before the first. */
const NEWEST = `(select ${isoTimeSql('max(observed_at)')} from operators.operator)`;

/** `null` without any observation. Send it before the query of the figures. */
export const readNewestOperator = async (db: ReadDatabase): Promise<string | null> =>
  (await db.query<{ at: string | null }>({ sql: `select ${NEWEST} as at`, values: [] }))[0]?.at ?? null;

export const listOperators = async (db: ReadDatabase, page: PageRequest): Promise<Page> => {
  const where = sql.and([
    sql.fragment`(o.domains > 1 or o.pages > 1) and o.name is not null`,
    page.after && sql.fragment`(o.domains + o.pages, o.operator_id) < (${sql.list(page.after)})`,
  ]);
  const rows = await db.query<{ item: string; size: string; operator_id: string }>(sql.unsafe`
    select (o.domains + o.pages)::text as size, o.operator_id,
      '{' || ${raw(SUMMARY)} || ',"public_brands":' || o.public_brands || '}' as item
    from (
      select * from operators.operator o
      where ${where} order by o.domains + o.pages desc, o.operator_id desc limit ${page.limit + 1}
    ) o order by o.domains + o.pages desc, o.operator_id desc`);
  return pageOfRows(rows, page.limit, {
    toItem: ({ item }) => item,
    cursorOf: (last) => [last.size, last.operator_id],
  });
};

const associations = (kind: 'domain' | 'page', name: string): string => `coalesce((
  select json_agg(json_build_object('${name}', k.key, 'bases', k.bases) order by k.key collate "C")
  from (
    select key, json_agg(basis order by basis collate "C") as bases from operators.association
    where operator_id = o.operator_id and kind = '${kind}'
    group by key order by key collate "C" limit ${OPERATOR_ENTRIES_MAX}
  ) k), '[]'::json)::text`;

const ONE = `
  select ${isoTimeSql('o.observed_at')} as as_of,
    '{' || ${SUMMARY} || ',"public_brands":' || o.public_brands
      || ',"brands":' || ${referencesOf(PUBLIC_BRANDS, OPERATOR_ENTRIES_MAX)}
      || ',"domain_associations":' || ${associations('domain', 'domain')}
      || ',"page_associations":' || ${associations('page', 'page_id')} || '}' as item
  from operators.operator o where o.operator_id = $1 and o.name is not null`;

/** `null` when there is none. */
export const findOperator = async (
  db: ReadDatabase,
  operatorId: string,
): Promise<{ readonly item: string; readonly as_of: string } | null> =>
  (await db.query<{ item: string; as_of: string }>({ sql: ONE, values: [operatorId] }))[0] ?? null;

const OF_BRAND = `
  select '{' || ${SUMMARY} || ',"bases":' || own.bases || ',"other_brands":'
    || ${referencesOf(`select * from (${PUBLIC_BRANDS}) b where b.brand_id <> $1`, OPERATOR_OTHER_BRANDS_MAX)} || '}' as item
  from (
    select operator_id, json_agg(basis order by basis collate "C")::text as bases
    from operators.association where brand_id = $1 group by operator_id
  ) own join operators.operator o using (operator_id)
  where o.name is not null
  order by o.domains + o.pages desc, o.operator_id`;

const OF_BRAND_AS_OF = `
  select array(${OF_BRAND}) as items, (
    select ${isoTimeSql('max(o.observed_at)')} from operators.association a join operators.operator o using (operator_id)
    where a.brand_id = $1 and o.name is not null
  ) as "asOf"`;

export const listOperatorsOfBrand = (db: ReadDatabase, brandId: string): Promise<ItemsAsOf> =>
  readItemsAsOf(db, OF_BRAND_AS_OF, [brandId]);
