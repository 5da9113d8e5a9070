import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { TOOL_MEMBERS_SQL } from '../sql/tool-json.ts';

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
