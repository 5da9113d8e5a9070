import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { SiteEvent } from '#contracts/events/corpus/site.ts';
import { recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { addToCounters } from '../sql/counter-table.ts';
import { describeTool, describedTools } from '../sql/json.ts';
import { type Change, projection, type Row } from '../define-projection.ts';

const refreshCounts = (brand_id: string): Change => ({
  kind: 'refresh',
  statement: 'recount',
  row: { brand_id },
});

const setInstalled = (brand_id: string, slugs: readonly string[], present: boolean): readonly Change[] =>
  slugs.map((slug) => ({ kind: 'upsert', table: 'installed', key: { brand_id, slug }, set: { present } }));

const projectBrand = (event: BrandEvent): readonly Change[] => {
  const { brand_id } = event.data;
  const { is_public, category_path } = event.type === 'BrandRegistered' ? event.data : event.data.changes;
  const set: Row = {
    ...(is_public === undefined ? {} : { is_public }),
    ...(category_path === undefined ? {} : { category_ids: category_path.map(({ id }) => id) }),
  };
  return Object.keys(set).length === 0
    ? []
    : [{ kind: 'upsert', table: 'brand', key: { brand_id }, set }, refreshCounts(brand_id)];
};

export const categoryTools = projection<SiteEvent | BrandEvent>({
  name: 'category-tools',
  version: 4,
  prefixes: ['site-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    describe: describeTool,
    applied_scan: recordAppliedScan,
    // Adds the difference to the brand's earlier contribution, in any order of the events.
    recount: {
      columns: { brand_id: 'uuid' },
      touches: ['brand', 'installed', 'adoption'],
      sql: `
        with moved as (
          select * from (
            select b.brand_id, b.counted_ids, b.counted_slugs, t.slugs,
              case when b.is_public then b.category_ids else '{}' end as ids
            from brand b join :input i using (brand_id) cross join lateral (
              select coalesce(array_agg(slug order by slug), '{}') as slugs
              from installed t where t.brand_id = b.brand_id and t.present
            ) t
          ) c where (ids, slugs) is distinct from (counted_ids, counted_slugs)
        ), difference as (
          select category_id, slug, 1 as brands from moved, unnest(ids) category_id, unnest(slugs) slug
          union all
          select category_id, slug, -1 from moved, unnest(counted_ids) category_id, unnest(counted_slugs) slug
        ), ${addToCounters('adoption', ['category_id', 'slug'], ['brands'], 'difference')}
        update brand b set counted_ids = m.ids, counted_slugs = m.slugs
        from moved m where b.brand_id = m.brand_id`,
    },
  },
  project: (event): readonly Change[] => {
    const { brand_id } = event.data;
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return projectBrand(event);
      case 'ToolsDetected': {
        const { tools, observed_at } = event.data;
        const slugs = tools.map(({ slug }) => slug);
        return [
          ...describedTools(tools, observed_at),
          ...setInstalled(brand_id, slugs, true),
          refreshCounts(brand_id),
        ];
      }
      case 'ToolsDescribed':
        return describedTools(event.data.tools, event.data.observed_at);
      case 'ToolsGone': {
        const slugs = event.data.tools.map(({ slug }) => slug);
        return [...setInstalled(brand_id, slugs, false), refreshCounts(brand_id)];
      }
      case 'ToolsCorrected': {
        const { tools, observed_at } = event.data;
        return [
          ...describedTools(
            tools.map(({ tool }) => tool),
            observed_at,
          ),
          ...tools.flatMap(({ tool: { slug }, present }) => setInstalled(brand_id, [slug], present)),
          refreshCounts(brand_id),
        ];
      }
      case 'ToolsMissed':
      case 'ToolsSeen':
      case 'SplitTestToolsRead':
      case 'SplitTestsObserved':
      case 'SplitTestsChanged':
      case 'SplitTestsMissed':
      case 'SplitTestsSeen':
        return [];
      case 'SiteScanRecorded':
        return [
          {
            kind: 'run',
            statement: 'applied_scan',
            row: { brand_id, scanned_at: event.data.observed_at, position: event.position, resets: false },
          },
        ];
    }
  },
});
