import { isoTimeSql } from '#contracts/values/time.ts';
import { LARGEST_BIGINT, LARGEST_TEXT, pageOfRows } from '../sql/pages.ts';
import { TRAFFIC_BANDS } from '#contracts/values/codes.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { type ItemsAsOf, readItemsAsOf } from '../shared-tables/applied-scan.ts';
import { raw, sql } from '../sql/sql-tag.ts';
import { TOOL_MEMBERS_SQL } from '../sql/json.ts';

export const TOOL_CATEGORIES_MAX = 50;
export const TOOL_COMBINATIONS_MAX = 20;

const SUMMARY = `'{"id":"' || t.tool_id || '",' || ${TOOL_MEMBERS_SQL} || ',"brands":' || t.brands`;

const NEWEST = `(select ${isoTimeSql('max(scanned_at)')} from tools.brand)`;

const TECH_STACK = `
  select '{' || ${TOOL_MEMBERS_SQL} || '}' as item
  from tools.installed n join tools.tool t using (slug)
  where n.brand_id = $1 and n.present
  order by lower(t.category) collate "C", lower(t.name) collate "C", t.slug collate "C"`;

const TECH_STACK_AS_OF = `
  select array(${TECH_STACK}) as items,
    (select ${isoTimeSql('scanned_at')} from tools.brand where brand_id = $1) as "asOf"`;

/** By tool category, then name. `asOf`: last scan of the site, `null` before it. */
export const readTechStack = (db: ReadDatabase, brandId: string): Promise<ItemsAsOf> =>
  readItemsAsOf(db, TECH_STACK_AS_OF, [brandId]);

/** Start cursor: sorts before the most adopted tool. */
const BEFORE_MOST_ADOPTED = [LARGEST_BIGINT, LARGEST_TEXT] as const;

export const listTools = async (
  db: ReadDatabase,
  { category }: { readonly category?: string },
  page: PageRequest,
): Promise<Page> => {
  const where = sql.and([
    sql.fragment`t.brands > 0 and (t.brands, t.slug) < (${sql.list(page.after ?? BEFORE_MOST_ADOPTED)})`,
    category !== undefined && sql.fragment`lower(t.category) = lower(${category})`,
  ]);
  const rows = await db.query<{ item: string; brands: string; slug: string }>(sql.unsafe`
    select ${raw(SUMMARY)} || '}' as item, t.brands, t.slug from tools.tool t
    where ${where} order by t.brands desc, t.slug desc limit ${page.limit + 1}`);
  return pageOfRows(rows, page.limit, {
    toItem: ({ item }) => item,
    cursorOf: (last) => [last.brands, last.slug],
  });
};

export const readToolsAsOf = async (db: ReadDatabase): Promise<string | null> =>
  (await db.query<{ at: string | null }>({ sql: `select ${NEWEST} as at`, values: [] }))[0]?.at ?? null;

export type ToolRef = { readonly id: string } | { readonly slug: string };

const share = (part: string, whole: string): string =>
  `coalesce(trim_scale(round(${part}::numeric / nullif(${whole}, 0), 4))::text, 'null')`;

const ADOPTION = `
  select coalesce(string_agg(item, ',' order by brands desc, slug), '') as items from (
    select a.brands, c.slug, '{"category":{"id":"' || c.category_id || '","slug":' || to_json(c.slug) || ',"name":' || to_json(coalesce(c.defined_name, c.name))
      || '},"brands":' || a.brands || ',"scanned_brands":' || c.brands || ',"share":' || ${share('a.brands', 'c.brands')} || '}' as item
    from tools.adoption a join tools.category c using (category_id)
    where a.slug = k.slug and a.brands > 0
    order by a.brands desc, c.slug limit ${TOOL_CATEGORIES_MAX}
  ) one`;

const COMBINATIONS = `
  select coalesce(string_agg(item, ',' order by brands desc, slug), '') as items from (
    select p.brands, t.slug, '{"tool":{"id":"' || t.tool_id || '",' || ${TOOL_MEMBERS_SQL} || '},"brands":' || p.brands
      || ',"share":' || ${share('p.brands', 'k.brands')} || '}' as item
    from (
      select other_slug as slug, brands from tools.pair where slug = k.slug
      union all select slug, brands from tools.pair where other_slug = k.slug
    ) p join tools.tool t using (slug)
    where p.brands > 0
    order by p.brands desc, p.slug limit ${TOOL_COMBINATIONS_MAX}
  ) one`;

const bandItem = (from: number | null, to: number | null): string =>
  `'{"visits_from":${from ?? 'null'},"visits_to":${to ?? 'null'},"brands":'`;
const BAND_CASES = TRAFFIC_BANDS.map(
  (from, band) => `when ${band} then ${bandItem(from, TRAFFIC_BANDS[band + 1] ?? null)}`,
).join(' ');

const SPLIT = `
  select string_agg(case band ${BAND_CASES} else ${bandItem(null, null)} end || coalesce(v.brands, 0) || '}', ',' order by place) as items
  from (values ${[...TRAFFIC_BANDS.keys(), -1].map((band, place) => `(${band}, ${place})`).join()}) b(band, place)
  left join (select band, brands from tools.band where slug = k.slug) v using (band)`;

const findBy = (column: 'slug' | 'tool_id'): string => `
  select k.slug, ${SUMMARY.replaceAll('t.', 'k.')} || ',"adoption_by_category":[' || a.items || '],"common_combinations":[' || c.items
    || '],"traffic_split":[' || s.items || ']}' as item
  from tools.tool k
  cross join lateral (${ADOPTION}) a cross join lateral (${COMBINATIONS}) c cross join lateral (${SPLIT}) s
  where k.${column} = $1 and k.name is not null`;
const BY_SLUG = findBy('slug');
const BY_ID = findBy('tool_id');

export type FoundTool = { readonly slug: string; readonly item: string };

/** `null` if no scan ever found it. */
export const findTool = async (db: ReadDatabase, ref: ToolRef): Promise<FoundTool | null> => {
  const query = 'id' in ref ? { sql: BY_ID, values: [ref.id] } : { sql: BY_SLUG, values: [ref.slug] };
  return (await db.query<FoundTool>(query))[0] ?? null;
};

const SLUG_BY_SLUG = 'select slug from tools.tool where slug = $1 and name is not null';
const SLUG_BY_ID = 'select slug from tools.tool where tool_id = $1 and name is not null';

export const findToolSlug = async (db: ReadDatabase, ref: ToolRef): Promise<string | null> => {
  const query =
    'id' in ref ? { sql: SLUG_BY_ID, values: [ref.id] } : { sql: SLUG_BY_SLUG, values: [ref.slug] };
  return (await db.query<{ slug: string }>(query))[0]?.slug ?? null;
};
