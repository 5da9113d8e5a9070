import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { CategoryEvent } from '#contracts/events/corpus/category.ts';
import type { SiteEvent, SiteTool } from '#contracts/events/corpus/site.ts';
import type { TrafficEvent } from '#contracts/events/corpus/traffic.ts';
import { TRAFFIC_BANDS } from '#contracts/values/codes.ts';
import { addToCounters } from '../sql/counter-table.ts';
import { describeTool, describedTools } from '../sql/json.ts';
import {
  nameCategory,
  namedPath,
  namingsByBrand,
  namingsByDefinition,
} from '../shared-tables/category-naming.ts';
import { latestEstimate } from '../shared-tables/latest-traffic-estimate.ts';
import { type Change, projection, type Row } from '../define-projection.ts';

const latest = latestEstimate('brand', ['monthly_visits', 'top_country']);

const BAND = `coalesce(width_bucket(b.monthly_visits, array[${TRAFFIC_BANDS.slice(1).join()}]::bigint[]), -1)`;

const difference = (columns: string, now: string, before: string): string => `
  select ${columns}, sum(by) as by
  from (select ${now}, 1 as by from moved union all select ${before}, -1 as by from moved) d
  group by ${columns} having sum(by) <> 0`;

const added = (table: string, key: string): string => `
  insert into ${table} as t (${key}, brands) select ${key}, by from ${table}_difference
  on conflict (${key}) do update set brands = t.brands + excluded.brands`;

/**
 * Omits pairs without a changed tool: a site with 500 tools has 125,000 pairs, and one more tool changes 500 of them.
 */
const changedPairs = (tools: string, by: 1 | -1): string => `
  select least(a.slug, o.slug) as slug, greatest(a.slug, o.slug) as other_slug, ${by} as brands
  from ${tools} a join ${tools} o using (brand_id)
  where a.is_changed and (a.slug < o.slug or (a.slug > o.slug and not o.is_changed))`;

/** Adds the difference to the earlier contribution: a scan costs only its changes, events come in any order. */
const RECOUNT = `
  with moved as (
    select * from (
      select b.brand_id, b.counted_tools, b.counted_category_id, b.counted_band,
        case when b.is_public then t.slugs else '{}' end as tools,
        case when b.is_public and b.scanned_at is not null then b.category_id end as category_id,
        ${BAND} as band
      from brand b join :input i using (brand_id) cross join lateral (
        select coalesce(array_agg(slug order by slug), '{}') as slugs
        from installed t where t.brand_id = b.brand_id and t.present
      ) t
    ) c
    where (counted_tools, counted_category_id, counted_band) is distinct from (tools, category_id, band)
  ),
  tool_difference as (${difference('slug', 'unnest(tools) as slug', 'unnest(counted_tools) as slug')}),
  tools as (${added('tool', 'slug')}),
  category_difference as (
    select * from (${difference('category_id', 'category_id', 'counted_category_id')}) d where category_id is not null
  ),
  categories as (${added('category', 'category_id')}),
  had as (
    select unnest(tools) as slug, category_id, band, 1 as brands from moved
    union all select unnest(counted_tools), counted_category_id, counted_band, -1 from moved
  ),
  held as materialized (
    select brand_id, slug, slug <> all (counted_tools) as is_changed from moved, unnest(tools) slug
  ),
  held_before as materialized (
    select brand_id, slug, slug <> all (tools) as is_changed from moved, unnest(counted_tools) slug
  ),
  paired as (${changedPairs('held', 1)} union all ${changedPairs('held_before', -1)}),
  ${addToCounters('adoption', ['slug', 'category_id'], ['brands'], 'had where category_id is not null')},
  ${addToCounters('band', ['slug', 'band'], ['brands'], 'had')},
  ${addToCounters('pair', ['slug', 'other_slug'], ['brands'], 'paired')}
  update brand b set counted_tools = m.tools, counted_category_id = m.category_id, counted_band = m.band
  from moved m where b.brand_id = m.brand_id`;

const refreshCounts = (brand_id: string): readonly Change[] => [
  { kind: 'refresh', statement: 'recount', row: { brand_id } },
  { kind: 'refresh', statement: 'place', row: { brand_id } },
];

const projectBrand = (event: BrandEvent): readonly Change[] => {
  const { brand_id, observed_at } = event.data;
  const { is_public, category_path } = event.type === 'BrandRegistered' ? event.data : event.data.changes;
  const [named] = namedPath(event);
  const [top] = category_path ?? [];
  const set: Row = {
    ...(is_public === undefined ? {} : { is_public }),
    ...(category_path === undefined ? {} : { category_id: top?.id ?? null }),
  };
  const namings = namingsByBrand(named ? [named] : [], brand_id, observed_at).map(
    (row): Change => ({ kind: 'run', statement: 'name_category', row }),
  );
  if (Object.keys(set).length === 0) return namings;
  return [{ kind: 'upsert', table: 'brand', key: { brand_id }, set }, ...namings, ...refreshCounts(brand_id)];
};

const detectTool = (brand_id: string, observed_at: string, { slug }: SiteTool): Change => ({
  kind: 'run',
  statement: 'detect',
  row: { brand_id, slug, detected_at: observed_at },
});

/** Only top-level categories have figures here. */
const projectCategory = (event: CategoryEvent): readonly Change[] => {
  const { category_id, observed_at } = event.data;
  const isDefined = event.type === 'CategoryDefined';
  const path = isDefined ? event.data.path : (event.data.earlier_path ?? []);
  const name = isDefined ? event.data.name : event.data.changes.name;
  const isShown = name !== undefined && !(isDefined && path.length > 1);
  return [
    ...namingsByDefinition(path.slice(0, 1), category_id, observed_at).map(
      (row): Change => ({ kind: 'run', statement: 'name_category', row }),
    ),
    ...(isShown
      ? [{ kind: 'update', table: 'category', key: { category_id }, set: { defined_name: name } } as const]
      : []),
  ];
};

export const tools = projection<SiteEvent | BrandEvent | CategoryEvent | TrafficEvent>({
  name: 'tools',
  version: 5,
  prefixes: ['site-', 'brand-', 'category-', 'traffic-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    latest_estimate: latest.statement,
    describe: describeTool,
    name_category: nameCategory({}),
    scanned: {
      columns: { brand_id: 'uuid', scanned_at: 'timestamptz' },
      touches: ['brand'],
      sql: `
        insert into brand as b (brand_id, scanned_at) select brand_id, max(scanned_at) from :input i group by brand_id
        on conflict (brand_id) do update set scanned_at = greatest(b.scanned_at, excluded.scanned_at)`,
    },
    // Includes the brand's current figures, so that `place` seldom writes a row again.
    detect: {
      columns: { brand_id: 'uuid', slug: 'text', detected_at: 'text' },
      touches: ['brand', 'installed'],
      sql: `
        insert into installed as t (brand_id, slug, present, detected_at, listed, monthly_visits, top_country)
        select distinct on (i.brand_id, i.slug) i.brand_id, i.slug, true, i.detected_at,
          coalesce(b.is_public, false), coalesce(b.monthly_visits, -1), b.top_country
        from :input i left join brand b using (brand_id) order by i.brand_id, i.slug, i.detected_at desc
        on conflict (brand_id, slug) do update set present = true, detected_at = excluded.detected_at, missing_since = null,
          listed = excluded.listed, monthly_visits = excluded.monthly_visits, top_country = excluded.top_country`,
    },
    recount: {
      columns: { brand_id: 'uuid' },
      touches: ['brand', 'installed', 'tool', 'category', 'adoption', 'band', 'pair'],
      sql: RECOUNT,
    },
    place: {
      columns: { brand_id: 'uuid' },
      touches: ['brand', 'installed'],
      sql: `
        update installed t
        set listed = b.is_public and t.present, monthly_visits = coalesce(b.monthly_visits, -1), top_country = b.top_country
        from brand b join :input i using (brand_id)
        where t.brand_id = b.brand_id and (t.listed, t.monthly_visits, t.top_country)
          is distinct from (b.is_public and t.present, coalesce(b.monthly_visits, -1), b.top_country)`,
    },
  },
  project: (event): readonly Change[] => {
    if (event.type === 'CategoryDefined' || event.type === 'CategoryChanged') return projectCategory(event);
    const { brand_id } = event.data;
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return projectBrand(event);
      case 'TrafficEstimated': {
        const { figures, confirmed = [] } = event.data;
        // A list of ranks covers many sites without a brand, and has none of these figures.
        const stored = ['monthly_visits', 'countries'] as const;
        if (!stored.some((name) => figures[name] !== undefined || confirmed.includes(name))) return [];
        return [latest.change(event), ...refreshCounts(brand_id)];
      }
      case 'ToolsDetected':
        return [
          ...describedTools(event.data.tools, event.data.observed_at),
          ...event.data.tools.map((tool) => detectTool(brand_id, event.data.observed_at, tool)),
        ];
      case 'ToolsDescribed':
        return describedTools(event.data.tools, event.data.observed_at);
      case 'ToolsMissed':
      case 'ToolsSeen': {
        const missing_since = event.type === 'ToolsMissed' ? event.data.observed_at : null;
        return event.data.slugs.map(
          (slug): Change => ({
            kind: 'update',
            table: 'installed',
            key: { brand_id, slug },
            set: { missing_since },
          }),
        );
      }
      case 'ToolsGone':
        return event.data.tools.map(
          ({ slug }): Change => ({
            kind: 'update',
            table: 'installed',
            key: { brand_id, slug },
            set: { present: false, missing_since: null },
          }),
        );
      case 'ToolsCorrected': {
        const { tools: corrected, observed_at } = event.data;
        return [
          ...describedTools(
            corrected.map(({ tool }) => tool),
            observed_at,
          ),
          ...corrected.map(
            ({ tool: { slug }, ...set }): Change => ({
              kind: 'upsert',
              table: 'installed',
              key: { brand_id, slug },
              set,
            }),
          ),
        ];
      }
      case 'SiteScanRecorded':
        return [
          { kind: 'run', statement: 'scanned', row: { brand_id, scanned_at: event.data.observed_at } },
          ...refreshCounts(brand_id),
        ];
      case 'SplitTestToolsRead':
      case 'SplitTestsObserved':
      case 'SplitTestsChanged':
      case 'SplitTestsMissed':
      case 'SplitTestsSeen':
        return [];
    }
  },
});
