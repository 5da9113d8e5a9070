import { utcDate } from '#contracts/values/time.ts';
import type { AdStanding } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import { attributedBy, brandTotals, recordTotals, takeTotals } from '../shared-tables/brand-totals.ts';
import { brandFacets } from '../shared-tables/brand-facets.ts';
import { isNoLook, scanKey } from '../shared-tables/observed-day.ts';
import { type Change, projection } from '../define-projection.ts';

const beganOn = (ad: Pick<AdStanding, 'started_on' | 'first_seen_at'>): string =>
  ad.started_on ?? utcDate(ad.first_seen_at);

const setStart = (brand_id: string, ad_id: string, started_on: string): Change => ({
  kind: 'upsert',
  table: 'ad',
  key: { brand_id, ad_id },
  set: { started_on },
});

/** Names all of them each time: a batch runs refreshes in the order of their first naming. */
const refresh = (brand_id: string): readonly Change[] => [
  { kind: 'refresh', statement: 'take_totals', row: { brand_id } },
  { kind: 'refresh', statement: 'first_scan', row: { brand_id } },
  { kind: 'refresh', statement: 'first_ad', row: { brand_id } },
];

export const newAdvertisers = projection<AdLibraryEvent | BrandEvent>({
  name: 'new-advertisers',
  version: 6,
  prefixes: ['adLibrary-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    totals: recordTotals,
    take_totals: takeTotals,
    first_ad: {
      columns: { brand_id: 'uuid' },
      touches: ['ad', 'brand'],
      sql: `
        insert into brand (brand_id, first_ad_started_on)
        select i.brand_id, (select min(a.started_on) from ad a where a.brand_id = i.brand_id) from :input i
        on conflict (brand_id) do update set first_ad_started_on = excluded.first_ad_started_on`,
    },
    first_scan: {
      columns: { brand_id: 'uuid' },
      touches: ['scan', 'brand'],
      sql: `
        insert into brand (brand_id, first_scan_at)
        select i.brand_id, (select s.observed_at from scan s where s.brand_id = i.brand_id order by s.date, s.observed_at limit 1)
        from :input i
        on conflict (brand_id) do update set first_scan_at = excluded.first_scan_at`,
    },
  },
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return brandFacets(event);
      case 'AdStarted': {
        const { brand_id, ad_id, started_on, observed_at } = event.data;
        return [setStart(brand_id, ad_id, beganOn({ started_on, first_seen_at: observed_at }))];
      }
      case 'AdDetailsObserved': {
        const { brand_id, ad_id, started_on } = event.data;
        return started_on === null ? [] : [setStart(brand_id, ad_id, started_on)];
      }
      case 'AdObservationCorrected': {
        const { brand_id, ad_id, after } = event.data;
        return [setStart(brand_id, ad_id, beganOn(after)), ...brandTotals(event), ...refresh(brand_id)];
      }
      case 'AdAttributed': {
        const { brand_id, ad_id, ad } = event.data;
        const moved: Change =
          attributedBy(event) === 1
            ? setStart(brand_id, ad_id, beganOn(ad))
            : { kind: 'delete', table: 'ad', key: { brand_id, ad_id } };
        return [moved, ...brandTotals(event), ...refresh(brand_id)];
      }
      case 'ScanRecorded':
      case 'ScanCorrected': {
        const { brand_id, observed_at } = event.data;
        const key = scanKey(event);
        return [
          isNoLook(event)
            ? { kind: 'delete', table: 'scan', key }
            : { kind: 'upsert', table: 'scan', key, set: { observed_at } },
          ...brandTotals(event),
          ...refresh(brand_id),
        ];
      }
      case 'AdRevised':
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
