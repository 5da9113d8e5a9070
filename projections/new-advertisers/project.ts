import { utcDate } from '#contracts/values/time.ts';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import { brandFacets } from '../shared-tables/brand-facets.ts';
import { type Change, projection } from '../define-projection.ts';

/** When each brand began to advertise. A nightly job writes the list from this. */
export const newAdvertisers = projection<AdLibraryEvent | BrandEvent>({
  name: 'new-advertisers',
  version: 1,
  prefixes: ['adLibrary-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    first_ad: {
      columns: { brand_id: 'uuid', started_on: 'date' },
      touches: ['brand'],
      sql: `
        insert into brand as b (brand_id, first_ad_started_on)
        select brand_id, min(started_on) from :input i group by brand_id
        on conflict (brand_id) do update
          set first_ad_started_on = least(b.first_ad_started_on, excluded.first_ad_started_on)`,
    },
    observe: {
      columns: { brand_id: 'uuid', scanned_at: 'timestamptz', active_ads: 'bigint' },
      touches: ['brand'],
      sql: `
        insert into brand as b (brand_id, first_scan_at, scanned_at, active_ads)
        select brand_id, min(scanned_at), max(scanned_at), (array_agg(active_ads order by scanned_at desc, active_ads))[1]
        from :input i group by brand_id
        on conflict (brand_id) do update set first_scan_at = least(b.first_scan_at, excluded.first_scan_at),
          active_ads = case when b.scanned_at is null or excluded.scanned_at >= b.scanned_at
            then excluded.active_ads else b.active_ads end,
          scanned_at = greatest(b.scanned_at, excluded.scanned_at)`,
    },
  },
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return brandFacets(event);
      case 'AdStarted': {
        const { brand_id, started_on, observed_at } = event.data;
        const row = { brand_id, started_on: started_on ?? utcDate(observed_at) };
        return [{ kind: 'run', statement: 'first_ad', row }];
      }
      case 'ScanRecorded': {
        const { brand_id, observed_at, totals, late_arrival } = event.data;
        if (late_arrival) return [];
        return [
          {
            kind: 'run',
            statement: 'observe',
            row: { brand_id, scanned_at: observed_at, active_ads: totals.active },
          },
        ];
      }
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
