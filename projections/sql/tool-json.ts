import { BASE_URL_SQL } from '#contracts/values/base-url.ts';
import type { SiteTool } from '#contracts/events/corpus/site.ts';
import type { Change, Statement } from '../define-projection.ts';

/**
 * Table `tool` with `slug, tool_id, name, category, described_at, website_url, website_at`, from the newest scan of any
 * site. At equal times the text that sorts last wins, so that the order of sites does not matter.
 */
export const describeTool: Statement = {
  columns: {
    slug: 'text',
    tool_id: 'uuid',
    name: 'text',
    category: 'text',
    website_url: 'text',
    at: 'timestamptz',
  },
  touches: ['tool'],
  sql: `
    insert into tool as t (slug, tool_id, name, category, described_at, website_url, website_at)
    select d.slug, d.tool_id, d.name, d.category, d.at, w.website_url, w.at
    from (
      select distinct on (slug) slug, tool_id, name, category, at from :input i
      order by slug, at desc, name desc, category desc
    ) d
    left join (
      select distinct on (slug) slug, website_url, at from :input i where website_url is not null
      order by slug, at desc, website_url desc
    ) w using (slug)
    on conflict (slug) do update set tool_id = excluded.tool_id,
      name = case when (excluded.described_at, excluded.name, excluded.category) >= (t.described_at, t.name, t.category)
        or t.described_at is null then excluded.name else t.name end,
      category = case when (excluded.described_at, excluded.name, excluded.category) >= (t.described_at, t.name, t.category)
        or t.described_at is null then excluded.category else t.category end,
      described_at = greatest(t.described_at, excluded.described_at),
      website_url = case when (excluded.website_at, excluded.website_url) >= (t.website_at, t.website_url)
        or t.website_at is null then excluded.website_url else t.website_url end,
      website_at = greatest(t.website_at, excluded.website_at)`,
};

export const describedTools = (tools: readonly SiteTool[], at: string): readonly Change[] =>
  tools.map(({ slug, tool_id, name, category, website_url }) => ({
    kind: 'run',
    statement: 'describe',
    row: { slug, tool_id, name, category, website_url, at },
  }));

/** `t` is a tool row; `BASE_URL_MARK` stands for the base URL. */
export const TOOL_URL_SQL = `${BASE_URL_SQL} || '/v1/tools/' || t.slug`;

/** JSON members of a tool row `t` without braces. */
export const TOOL_MEMBERS_SQL = `'"slug":"' || t.slug || '","name":' || to_json(t.name) || ',"category":' || to_json(t.category)
  || ',"website_url":' || coalesce(to_json(t.website_url)::text, 'null') || ',"url":"' || ${TOOL_URL_SQL} || '"'`;
