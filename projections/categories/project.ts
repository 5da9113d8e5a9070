import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { BrandEvent, CategoryOnPath } from '#contracts/events/corpus/brand.ts';
import type { CategoryDetails, CategoryEvent } from '#contracts/events/corpus/category.ts';
import type { TrafficEvent } from '#contracts/events/corpus/traffic.ts';
import {
  type CategoryNaming,
  nameCategory,
  namedPath,
  namingsByBrand,
  namingsByDefinition,
} from '../shared-tables/category-naming.ts';
import { brandTotals, recordTotals, takeTotals } from '../shared-tables/brand-totals.ts';
import { latestEstimate } from '../shared-tables/latest-traffic-estimate.ts';
import { profileTime, recordProfileTime } from '../shared-tables/profile-time.ts';
import { type Change, projection, type Row } from '../define-projection.ts';

const latest = latestEstimate('brand', ['monthly_visits']);

/** Leaves names and places as they are when a naming of precedence gave them. */
const nameCategories = (
  path: readonly CategoryOnPath[],
  namings: readonly CategoryNaming[],
): readonly Change[] =>
  namings.map((naming, index) => ({
    kind: 'run',
    statement: 'name',
    row: { ...naming, parent_id: path[index - 1]?.id ?? null, level: index + 1 },
  }));

const defineCategory = (
  category_id: string,
  { name, description }: Partial<CategoryDetails>,
  definedAt: string,
): readonly Change[] => {
  const set: Row = {
    ...(name === undefined ? {} : { defined_name: name }),
    ...(description === undefined ? {} : { description }),
  };
  return [
    ...(Object.keys(set).length === 0
      ? []
      : [{ kind: 'upsert', table: 'category', key: { category_id }, set } as const]),
    { kind: 'run', statement: 'define_time', row: { category_id, at: definedAt } },
  ];
};

/** False when a scan, link or storefront registered the brand: only the first to arrive has an event. */
const isProfile = (event: BrandEvent): boolean =>
  event.type === 'BrandProfileChanged' ||
  event.data.stated !== undefined ||
  event.data.category_path.length > 0;

const projectBrand = (event: BrandEvent): readonly Change[] => {
  const { brand_id, observed_at } = event.data;
  const { is_public, category_path } = event.type === 'BrandRegistered' ? event.data : event.data.changes;
  const [top, mid, leaf] = category_path ?? [];
  const set: Row = {
    ...(isProfile(event) ? {} : { registered_at: observed_at }),
    ...(is_public === undefined ? {} : { is_public }),
    ...(category_path === undefined
      ? {}
      : { top_id: top?.id ?? null, mid_id: mid?.id ?? null, leaf_id: leaf?.id ?? null }),
  };
  const path = namedPath(event);
  return [
    ...nameCategories(path, namingsByBrand(path, brand_id, observed_at)),
    ...(Object.keys(set).length === 0
      ? []
      : [{ kind: 'upsert', table: 'brand', key: { brand_id }, set } as const]),
    ...(isProfile(event) ? [profileTime(event)] : []),
    ...refreshTally(brand_id),
  ];
};

const refreshTally = (brand_id: string): readonly Change[] => [
  { kind: 'refresh', statement: 'take_totals', row: { brand_id } },
  { kind: 'refresh', statement: 'tally', row: { brand_id } },
];

export const categories = projection<CategoryEvent | BrandEvent | AdLibraryEvent | TrafficEvent>({
  name: 'categories',
  version: 11,
  prefixes: ['category-', 'brand-', 'adLibrary-', 'traffic-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    latest_estimate: latest.statement,
    name: nameCategory({ parent_id: 'uuid', level: 'int' }),
    define_time: {
      columns: { category_id: 'uuid', at: 'timestamptz' },
      touches: ['category'],
      sql: `
        insert into category as c (category_id, defined_at) select category_id, max(at) from :input i group by category_id
        on conflict (category_id) do update set defined_at = greatest(c.defined_at, excluded.defined_at)`,
    },
    profile_time: recordProfileTime,
    totals: recordTotals,
    take_totals: takeTotals,
    // Adds the difference to the earlier contribution, so that totals always equal the sums over the current brands.
    tally: {
      columns: { brand_id: 'uuid' },
      touches: ['brand', 'category'],
      sql: `
        with standing as (
          select b.*, case when is_public then array_remove(array[top_id, mid_id, leaf_id], null) else '{}' end as ids
          from brand b join :input i using (brand_id)
        ), moved as (
          select category_id, sum(brands) as brands, sum(active_ads) as active_ads, sum(total_ads) as total_ads,
            sum(with_traffic) as with_traffic, sum(visits) as visits
          from (
            select unnest(ids) as category_id, 1 as brands, active_ads, total_ads,
              (monthly_visits is not null)::int as with_traffic, coalesce(monthly_visits, 0) as visits
            from standing
            union all
            select unnest(counted_ids), -1, -counted_active_ads, -counted_total_ads,
              -(counted_monthly_visits is not null)::int, -coalesce(counted_monthly_visits, 0)
            from standing
          ) m group by category_id
        ), counted as (
          update category c set brands = c.brands + m.brands, active_ads = c.active_ads + m.active_ads,
            total_ads = c.total_ads + m.total_ads,
            brands_with_traffic = c.brands_with_traffic + m.with_traffic,
            monthly_visits = c.monthly_visits + m.visits
          from moved m where c.category_id = m.category_id
        )
        update brand b set counted_ids = s.ids, counted_active_ads = s.active_ads,
          counted_total_ads = s.total_ads, counted_monthly_visits = s.monthly_visits
        from standing s where b.brand_id = s.brand_id`,
    },
  },
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'CategoryDefined': {
        const { category_id, path, observed_at, ...details } = event.data;
        return [
          ...nameCategories(path, namingsByDefinition(path, category_id, observed_at)),
          ...defineCategory(category_id, details, observed_at),
        ];
      }
      case 'CategoryChanged': {
        const { category_id, changes, earlier_path = [], observed_at } = event.data;
        return [
          ...nameCategories(earlier_path, namingsByDefinition(earlier_path, category_id, observed_at)),
          ...defineCategory(category_id, changes, observed_at),
        ];
      }
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return projectBrand(event);
      case 'ScanRecorded':
      case 'ScanCorrected':
      case 'AdAttributed':
        return [...brandTotals(event), ...refreshTally(event.data.brand_id)];
      case 'AdObservationCorrected': {
        const counted = brandTotals(event);
        return counted.length === 0 ? [] : [...counted, ...refreshTally(event.data.brand_id)];
      }
      case 'TrafficEstimated':
        if (
          event.data.figures.monthly_visits === undefined &&
          event.data.confirmed?.includes('monthly_visits') !== true
        )
          return [];
        return [latest.change(event), ...refreshTally(event.data.brand_id)];
      case 'AdStarted':
      case 'AdRevised':
      case 'AdDetailsObserved':
      case 'AdDestinationChanged':
      case 'AdConfirmedInactive':
      case 'AdReturned':
      case 'AdsMissed':
      case 'AdsSeen':
      case 'AdsStillInactive':
      case 'AdsReworded':
        return [];
    }
  },
});
