import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { TrafficEvent } from '#contracts/events/corpus/traffic.ts';
import { latestEstimate } from '../shared-tables/latest-traffic-estimate.ts';
import { type Change, projection, type Row } from '../define-projection.ts';

const latest = latestEstimate('site', [
  'monthly_visits',
  'global_ranking',
  'category_ranking',
  'provider_category',
  'top_country',
  'top_country_share',
  'demographics',
  'segments',
  'similar_sites',
]);

/** Leaderboards filter by facets of the brand of the site's domain. */
const facetsOf = (event: BrandEvent): Row => {
  const { is_public, category_path } = event.type === 'BrandRegistered' ? event.data : event.data.changes;
  const [top, mid, leaf] = category_path ?? [];
  return {
    ...(is_public === undefined ? {} : { is_public }),
    ...(category_path === undefined
      ? {}
      : { top_id: top?.id ?? null, mid_id: mid?.id ?? null, leaf_id: leaf?.id ?? null }),
  };
};

const refreshAudience = (brand_id: string): readonly Change[] => [
  { kind: 'refresh', statement: 'leave', row: { brand_id } },
  { kind: 'refresh', statement: 'join', row: { brand_id } },
];

export const traffic = projection<TrafficEvent | BrandEvent>({
  name: 'traffic',
  version: 2,
  prefixes: ['traffic-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    latest_estimate: latest.statement,
    leave: {
      columns: { brand_id: 'uuid' },
      touches: ['site', 'audience'],
      sql: `
        delete from audience a using :input i
        where a.brand_id = i.brand_id and not exists (
          select from site s where s.brand_id = a.brand_id and s.is_public and s.segments ? a.segment)`,
    },
    join: {
      columns: { brand_id: 'uuid' },
      touches: ['site', 'audience'],
      sql: `
        insert into audience as a (segment, brand_id, monthly_visits)
        select segment, s.brand_id, s.monthly_visits
        from site s join :input i using (brand_id) cross join jsonb_array_elements_text(s.segments) segment
        where s.is_public and s.monthly_visits is not null
        on conflict (segment, brand_id) do update set monthly_visits = excluded.monthly_visits
        where a.monthly_visits <> excluded.monthly_visits`,
    },
  },
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged': {
        const { brand_id } = event.data;
        const set = facetsOf(event);
        if (Object.keys(set).length === 0) return [];
        return [{ kind: 'upsert', table: 'site', key: { brand_id }, set }, ...refreshAudience(brand_id)];
      }
      case 'TrafficEstimated': {
        const { brand_id, date, figures } = event.data;
        const { global_ranking, category_ranking, monthly_visits } = figures;
        const set: Row = {
          ...(global_ranking === undefined ? {} : { global_ranking }),
          ...(category_ranking === undefined ? {} : { category_ranking }),
          ...(monthly_visits === undefined ? {} : { monthly_visits }),
        };
        return [
          latest.change(event),
          ...(Object.keys(set).length === 0
            ? []
            : [{ kind: 'upsert', table: 'point', key: { brand_id, date }, set } as Change]),
          ...refreshAudience(brand_id),
        ];
      }
    }
  },
});
