import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import { brandFacets } from '../shared-tables/brand-facets.ts';
import { type Change, projection } from '../define-projection.ts';

/** Brands whose active ads grew most. Unreliable days do not count. */
export const rankings = projection<AdLibraryEvent | BrandEvent>({
  name: 'rankings',
  version: 2,
  prefixes: ['adLibrary-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    record_day: {
      columns: { brand_id: 'uuid', observed_at: 'timestamptz', active_ads: 'bigint' },
      touches: ['day'],
      sql: `
        insert into day as d (brand_id, date, active_ads, observed_at)
        select distinct on (1, 2) brand_id, (observed_at at time zone 'utc')::date, active_ads, observed_at
        from :input i order by 1, 2, observed_at desc, active_ads
        on conflict (brand_id, date) do update set active_ads = excluded.active_ads, observed_at = excluded.observed_at
        where excluded.observed_at >= d.observed_at`,
    },
    grow: {
      columns: { brand_id: 'uuid' },
      touches: ['day', 'riser'],
      sql: `
        insert into riser (brand_id, day, previous_day, active_ads, previous_active_ads, growth)
        select i.brand_id, l.date, p.date, l.active_ads, p.active_ads, l.active_ads - p.active_ads
        from :input i
        cross join lateral (
          select date, active_ads from day d where d.brand_id = i.brand_id order by date desc limit 1
        ) l
        cross join lateral (
          select date, active_ads from day d
          where d.brand_id = i.brand_id and d.date between l.date - 28 and l.date - 7 order by date desc limit 1
        ) p
        on conflict (brand_id) do update set day = excluded.day, previous_day = excluded.previous_day,
          active_ads = excluded.active_ads, previous_active_ads = excluded.previous_active_ads,
          growth = excluded.growth`,
    },
    // Removes a brand whose latest reliable day has no earlier day to compare with.
    drop_stale: {
      columns: { brand_id: 'uuid' },
      touches: ['day', 'riser'],
      sql: `
        delete from riser r using :input i
        where r.brand_id = i.brand_id
          and r.day <> (select max(d.date) from day d where d.brand_id = r.brand_id)`,
    },
  },
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return brandFacets(event);
      case 'ScanRecorded': {
        const { brand_id, observed_at, reliable, late_arrival, totals } = event.data;
        if (!reliable || late_arrival) return [];
        return [
          { kind: 'run', statement: 'record_day', row: { brand_id, observed_at, active_ads: totals.active } },
          { kind: 'refresh', statement: 'grow', row: { brand_id } },
          { kind: 'refresh', statement: 'drop_stale', row: { brand_id } },
        ];
      }
      case 'AdStarted':
      case 'AdRevised':
      case 'AdDetailsObserved':
      case 'AdDestinationChanged':
      case 'AdConfirmedInactive':
      case 'AdReturned':
      case 'AdsMissed':
      case 'AdsSeen':
      case 'AdsReworded':
      case 'AdObservationCorrected':
      case 'AdAttributed':
      case 'ScanCorrected':
        return [];
      default:
        event satisfies never;
        return [];
    }
  },
});
