import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { CategoryEvent } from '#contracts/events/corpus/category.ts';
import type { SiteEvent, SiteTool, SplitTestDetails } from '#contracts/events/corpus/site.ts';
import { landingPageOf } from '#contracts/values/links/landing-pages.ts';
import { NON_EXPERIMENT_TYPES } from '#contracts/observations/site-scan.ts';
import { nameByBrand, nameByDefinition, nameCategory, namedPath } from '../shared-tables/category-naming.ts';
import { addToCounters } from '../sql/counter-table.ts';
import { describeTool, describedTools } from '../sql/json.ts';
import { type Change, projection, type Row } from '../define-projection.ts';

const quotedList = (words: readonly string[]): string => words.map((word) => `'${word}'`).join();

const difference = (count: 'installed' | 'read' | 'running'): string => `
  select unnest(now_${count}) as slug, ${columns(count, 1)} from moved
  union all select unnest(counted_${count}), ${columns(count, -1)} from moved`;

const columns = (count: string, by: 1 | -1): string =>
  ['installed', 'read', 'running'].map((name) => `${name === count ? by : 0} as ${name}`).join();

const typesOf = (category: string, types: string, by: 1 | -1): string => `
  select ${category} as category_id, t.key as type, ${by} as brands,
    ${by} * (t.value ->> 0)::bigint as tests, ${by} * (t.value ->> 1)::bigint as running
  from moved cross join jsonb_each(${types}) t where ${category} is not null`;

/** Adds the difference to the earlier contribution: events come in any order. Only experiments count as running. */
const RECOUNT = `
  with moved as (
    select * from (
      select b.brand_id, b.counted_installed, b.counted_read, b.counted_running, b.counted_category_id, b.counted_types,
        case when b.is_public then s.installed else '{}' end as now_installed,
        case when b.is_public then s.read else '{}' end as now_read,
        case when b.is_public then s.running else '{}' end as now_running,
        case when b.is_public and s.read <> '{}' then b.category_id end as now_category_id,
        case when b.is_public and s.read <> '{}' then v.types else '{}' end as now_types
      from brand b join :input i using (brand_id) cross join lateral (
        select coalesce(array_agg(t.slug order by t.slug), '{}') as installed,
          coalesce(array_agg(t.slug order by t.slug) filter (where t.read_at is not null), '{}') as read,
          coalesce(array_agg(t.slug order by t.slug) filter (where exists (
            select from test e
            where e.brand_id = t.brand_id and e.tool = t.slug and e.state = 'running'
              and e.type not in (${quotedList(NON_EXPERIMENT_TYPES)})
          )), '{}') as running
        from site_tool t where t.brand_id = b.brand_id and t.present
      ) s cross join lateral (
        select coalesce(jsonb_object_agg(type, jsonb_build_array(tests, running)), '{}') as types
        from (
          select e.type, count(*) as tests, count(*) filter (where e.state = 'running') as running
          from test e where e.brand_id = b.brand_id group by e.type
        ) e
      ) v
    ) c
    where (counted_installed, counted_read, counted_running, counted_category_id, counted_types)
      is distinct from (now_installed, now_read, now_running, now_category_id, now_types)
  ),
  counts as (
    insert into tool as t (slug, installed, read, running)
    select slug, sum(installed), sum(read), sum(running)
    from (${difference('installed')} union all ${difference('read')} union all ${difference('running')}) d
    group by slug
    on conflict (slug) do update set installed = t.installed + excluded.installed, read = t.read + excluded.read,
      running = t.running + excluded.running
  ),
  read_in as (
    select now_category_id as category_id, 1 as read from moved
    union all select counted_category_id, -1 from moved
  ),
  varied as (
    ${typesOf('now_category_id', 'now_types', 1)} union all ${typesOf('counted_category_id', 'counted_types', -1)}
  ),
  ${addToCounters('category', ['category_id'], ['read'], 'read_in where category_id is not null')},
  ${addToCounters('category_type', ['category_id', 'type'], ['brands', 'tests', 'running'], 'varied')}
  update brand b
  set counted_installed = m.now_installed, counted_read = m.now_read, counted_running = m.now_running,
    counted_category_id = m.now_category_id, counted_types = m.now_types
  from moved m where b.brand_id = m.brand_id`;

const refreshCounts = (brand_id: string): Change => ({
  kind: 'refresh',
  statement: 'recount',
  row: { brand_id },
});

const projectBrand = (event: BrandEvent): readonly Change[] => {
  const { brand_id, observed_at } = event.data;
  const { is_public, category_path } = event.type === 'BrandRegistered' ? event.data : event.data.changes;
  const [named] = namedPath(event);
  const [top] = category_path ?? [];
  const set: Row = {
    ...(is_public === undefined ? {} : { is_public }),
    ...(category_path === undefined ? {} : { category_id: top?.id ?? null }),
  };
  const namings = nameByBrand(named ? [named] : [], brand_id, observed_at);
  if (Object.keys(set).length === 0) return namings;
  return [{ kind: 'upsert', table: 'brand', key: { brand_id }, set }, ...namings, refreshCounts(brand_id)];
};

/** Adds the id or prefix that finds the ads leading to the page. */
const locatePage = ({ url, match }: { readonly url: string; readonly match: 'exact' | 'prefix' }) => {
  const page = landingPageOf(url);
  return {
    url,
    match,
    page_id: match === 'exact' ? (page?.landing_page_id ?? null) : null,
    begins: match === 'prefix' ? (page?.page_url ?? null) : null,
  };
};

const testColumns = (details: Partial<SplitTestDetails>): Row => ({
  ...('name' in details ? { name: details.name ?? null } : {}),
  ...('type' in details ? { type: details.type ?? '' } : {}),
  ...('state' in details ? { state: details.state ?? '' } : {}),
  ...('state_basis' in details ? { state_basis: details.state_basis ?? '' } : {}),
  ...('arms' in details ? { arms: details.arms ?? null } : {}),
  ...('pages' in details ? { pages: details.pages?.map(locatePage) ?? null } : {}),
});

const forSplitTests = (
  brand_id: string,
  tools: readonly { readonly tool: SiteTool; readonly present: boolean }[],
  observedAt: string,
): Change[] => {
  const meant = tools.filter(({ tool }) => tool.split_testing);
  return [
    ...describedTools(
      meant.map(({ tool }) => tool),
      observedAt,
    ),
    ...meant.map(
      ({ tool: { slug }, present }): Change => ({
        kind: 'upsert',
        table: 'site_tool',
        key: { brand_id, slug },
        set: { present },
      }),
    ),
  ];
};

const setMissingSince = (ids: readonly string[], missing_since: string | null): readonly Change[] =>
  ids.map((id) => ({ kind: 'update', table: 'test', key: { id }, set: { missing_since } }));

export const splitTests = projection<SiteEvent | BrandEvent | CategoryEvent>({
  name: 'split-tests',
  version: 5,
  prefixes: ['site-', 'brand-', 'category-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    describe: describeTool,
    name_category: nameCategory({}),
    scanned: {
      columns: { brand_id: 'uuid', scanned_at: 'timestamptz' },
      touches: ['brand'],
      sql: `
        insert into brand as b (brand_id, scanned_at) select brand_id, max(scanned_at) from :input i group by brand_id
        on conflict (brand_id) do update set scanned_at = greatest(b.scanned_at, excluded.scanned_at)`,
    },
    recount: {
      columns: { brand_id: 'uuid' },
      touches: ['brand', 'site_tool', 'test', 'tool', 'category', 'category_type'],
      sql: RECOUNT,
    },
  },
  project: (event): readonly Change[] => {
    if (event.type === 'CategoryDefined' || event.type === 'CategoryChanged') return nameByDefinition(event);
    const { brand_id, observed_at } = event.data;
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return projectBrand(event);
      case 'ToolsDetected':
      case 'ToolsDescribed':
        return forSplitTests(
          brand_id,
          event.data.tools.map((tool) => ({ tool, present: true })),
          observed_at,
        );
      case 'ToolsCorrected':
        return forSplitTests(brand_id, event.data.tools, observed_at);
      case 'ToolsGone':
        return event.data.tools.map(
          ({ slug }): Change => ({
            kind: 'update',
            table: 'site_tool',
            key: { brand_id, slug },
            set: { present: false },
          }),
        );
      case 'SplitTestToolsRead':
        return event.data.tools.flatMap(({ slug, readable }): Change[] => [
          { kind: 'upsert', table: 'site_tool', key: { brand_id, slug }, set: { readable } },
          ...(readable
            ? [{ kind: 'upsert', table: 'tool', key: { slug }, set: { is_read: true } } as Change]
            : []),
        ]);
      case 'SplitTestsObserved':
        return event.data.tests.map(
          ({ id, tool, test_id, ...details }): Change => ({
            kind: 'insert',
            table: 'test',
            row: { id, brand_id, tool, test_id, ...testColumns(details), first_seen_at: observed_at },
          }),
        );
      case 'SplitTestsChanged':
        return event.data.tests.map(
          ({ id, changes }): Change => ({
            kind: 'update',
            table: 'test',
            key: { id },
            set: { ...testColumns(changes), changed_at: observed_at },
          }),
        );
      case 'SplitTestsMissed':
        return setMissingSince(event.data.ids, observed_at);
      case 'SplitTestsSeen':
        return setMissingSince(event.data.ids, null);
      case 'SiteScanRecorded':
        return [
          { kind: 'run', statement: 'scanned', row: { brand_id, scanned_at: observed_at } },
          ...event.data.read.map(
            (slug): Change => ({
              kind: 'update',
              table: 'site_tool',
              key: { brand_id, slug },
              set: { read_at: observed_at },
            }),
          ),
          refreshCounts(brand_id),
        ];
      case 'ToolsMissed':
      case 'ToolsSeen':
        return [];
    }
  },
});
