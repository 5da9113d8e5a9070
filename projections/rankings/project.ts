import { utcDate } from '#contracts/values/time.ts';
import type { AdRecord } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import { attributedBy } from '../shared-tables/brand-totals.ts';
import { brandFacets } from '../shared-tables/brand-facets.ts';
import { isNoLook, isOutOfOrder, scanKey } from '../shared-tables/observed-day.ts';
import { type Change, projection, type Row } from '../define-projection.ts';
import { compareDays, recordAds, refreshReliableDay } from './statements.ts';

/** Sort after and before every time, for ads that have not ended and ads that never returned. */
const NEVER_ENDED = 'infinity';
const NEVER_RETURNED = '-infinity';
/** Sorts before every move, for ads from no other brand. */
const NEVER_MOVED = '-infinity';

type AdColumns = {
  readonly social_page_id?: string;
  /** Joined with commas. */
  readonly countries?: string;
  /** Countries requested by the scans of an ad that names none; joined with commas. */
  readonly requested_countries?: string;
  readonly first_seen_on?: string;
  readonly ended_at?: string;
  readonly returned_at?: string;
  readonly moved_at?: string;
  readonly removed?: boolean;
};

type AdEvent = { readonly data: { readonly brand_id: string }; readonly revision: bigint };

/** Absent columns keep their values. */
const setAd = ({ data, revision }: AdEvent, adId: string, columns: AdColumns): Change => {
  const row: Row = {
    brand_id: data.brand_id,
    ad_id: adId,
    revision,
    social_page_id: columns.social_page_id ?? null,
    countries: columns.countries ?? null,
    requested_countries: columns.requested_countries ?? null,
    first_seen_on: columns.first_seen_on ?? null,
    ended_at: columns.ended_at ?? null,
    returned_at: columns.returned_at ?? null,
    moved_at: columns.moved_at ?? null,
    removed: columns.removed ?? false,
  };
  return { kind: 'run', statement: 'ads', row };
};

const columnsOf = (ad: AdRecord): AdColumns => ({
  social_page_id: ad.page_id ?? '',
  countries: ad.countries.join(),
  requested_countries: (ad.requested_countries ?? []).join(),
  first_seen_on: utcDate(ad.first_seen_at),
  ended_at: ad.inactive_since ?? NEVER_ENDED,
  returned_at: NEVER_RETURNED,
});

/** Names both each time: a batch runs refreshes in the order of their first naming. */
const refresh = ({ brand_id, observed_at }: AdLibraryEvent['data']): readonly Change[] => [
  { kind: 'refresh', statement: 'day', row: { brand_id, date: utcDate(observed_at) } },
  { kind: 'refresh', statement: 'compare', row: { brand_id } },
];

/**
 * Brands whose active ads grew most between two reliable days. An ad counts only if both days could show it (rules 3
 * and 9): complete scans of both covered its page in a country in which it runs. An ad without countries may run in any
 * requested one, so both must have covered all of those. An ad that came from another brand after the earlier day's
 * last scan does not count.
 */
export const rankings = projection<AdLibraryEvent | BrandEvent>({
  name: 'rankings',
  version: 6,
  prefixes: ['adLibrary-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: { ads: recordAds, day: refreshReliableDay, compare: compareDays },
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return brandFacets(event);
      case 'AdStarted': {
        const { ad_id, page_id, countries, requested_countries = [], observed_at } = event.data;
        const columns = {
          social_page_id: page_id ?? '',
          countries: countries.join(),
          requested_countries: requested_countries.join(),
          first_seen_on: utcDate(observed_at),
          ended_at: NEVER_ENDED,
          returned_at: NEVER_RETURNED,
          moved_at: NEVER_MOVED,
        };
        return [setAd(event, ad_id, columns)];
      }
      case 'AdDetailsObserved': {
        const { ad_id, page_id, countries, requested_countries } = event.data;
        const columns = {
          social_page_id: page_id ?? '',
          countries: countries.join(),
          ...(requested_countries === undefined ? {} : { requested_countries: requested_countries.join() }),
        };
        return [setAd(event, ad_id, columns)];
      }
      case 'AdConfirmedInactive':
        return [setAd(event, event.data.ad_id, { ended_at: event.data.observed_at })];
      case 'AdReturned':
        return [setAd(event, event.data.ad_id, { returned_at: event.data.observed_at })];
      case 'AdObservationCorrected':
        return [setAd(event, event.data.ad_id, columnsOf(event.data.after)), ...refresh(event.data)];
      case 'AdAttributed': {
        const { ad_id, ad, observed_at: moved_at } = event.data;
        const columns = attributedBy(event) === 1 ? { ...columnsOf(ad), moved_at } : { removed: true };
        return [setAd(event, ad_id, columns), ...refresh(event.data)];
      }
      case 'ScanRecorded': {
        const { observed_at, complete, pages, countries, totals } = event.data;
        const set = {
          observed_at,
          active_ads: totals.active,
          reliable: event.data.reliable,
          out_of_order: isOutOfOrder(event),
          pages: complete ? pages.map(({ page_id }) => page_id) : [],
          countries: complete ? countries : [],
        };
        return [{ kind: 'upsert', table: 'scan', key: scanKey(event), set }, ...refresh(event.data)];
      }
      case 'ScanCorrected': {
        const set = {
          active_ads: event.data.totals.active,
          reliable: event.data.reliable,
          out_of_order: isNoLook(event),
        };
        return [{ kind: 'update', table: 'scan', key: scanKey(event), set }, ...refresh(event.data)];
      }
      case 'AdRevised':
      case 'AdDestinationChanged':
      case 'AdsMissed':
      case 'AdsSeen':
      case 'AdsStillInactive':
      case 'AdsReworded':
        return [];
    }
  },
});
