import { chunk } from 'es-toolkit/array/chunk';
import type { AdCounted } from '#contracts/events/corpus/ad-library-values.ts';
import type { AdExcerpt, AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { BULK_IDS_MAX } from '#domain/event-size-limit.ts';
import { type Absence, absenceOf, covers, type PageLook } from './looks.ts';
import { countedOf, excerptOf, type ScanHeader, sightingOf } from './scan.ts';
import { type AdState, lastSeenAt, type LibraryState, pairCountries } from './state.ts';

export type LooksByPage = ReadonlyMap<string, readonly PageLook[]>;

const absenceIn = (
  scan: ScanHeader,
  ad: AdState,
  state: LibraryState,
  looks: LooksByPage,
): Absence | null => {
  const { page_id, status } = ad;
  if (!scan.complete || page_id === null || status === 'inactive' || !scan.pageIds.has(page_id)) return null;
  const countries = pairCountries(ad);
  if (!countries.some((country) => covers(scan, country))) return null;
  const lastSeen = lastSeenAt(ad, state.pages.get(page_id));
  if (scan.scanned_at <= lastSeen) return null;
  const own = { scan_id: scan.scan_id, observed_at: scan.scanned_at, countries: scan.countries };
  return absenceOf(countries, lastSeen, [...(looks.get(page_id) ?? []), own]);
};

/** The scan covers the page of an inactive ad in full, and the scan before showed the ad as ended. */
const isNoLongerShown = (scan: ScanHeader, { status, page_id, looks }: AdState): boolean =>
  status === 'inactive' &&
  scan.complete &&
  page_id !== null &&
  scan.pageIds.has(page_id) &&
  !scan.partialPages.has(page_id) &&
  looks.at(-1)?.kind === 'ended' &&
  looks.at(-1)?.scan_id !== scan.scan_id;

/** Rule 1. Call after all sightings of the scan. `looks`: at these ads' pages since their last sighting. */
export const recordAbsences =
  (scan: ScanHeader, adIds: readonly string[], looks: LooksByPage) =>
  (state: LibraryState): AdLibraryEvent[] => {
    if (state.recordedScans.has(scan.scan_id) || scan.isHistory) return [];
    const sighting = sightingOf(scan);
    const events: AdLibraryEvent[] = [];
    const missed: string[] = [];
    const hidden: string[] = [];
    for (const adId of adIds) {
      const ad = state.ads.get(adId);
      if (ad && isNoLongerShown(scan, ad)) hidden.push(adId);
      const absence = ad ? absenceIn(scan, ad, state, looks) : null;
      if (!ad || absence === null) continue;
      if (absence.confirmed_at === null) {
        if (ad.status === 'active') missed.push(adId);
        continue;
      }
      events.push({
        type: 'AdConfirmedInactive',
        data: {
          ...sighting,
          ...countedOf(ad),
          excerpt: excerptOf(ad.page_id, ad.page_name, ad.content),
          basis: 'absence',
          stopped_on: null,
          last_seen_at: lastSeenAt(ad, state.pages.get(ad.page_id ?? '')),
          observed_running: ad.observed_running,
          news: ad.observed_running,
        },
      });
    }
    for (const slice of chunk(missed, BULK_IDS_MAX)) {
      events.push({ type: 'AdsMissed', data: { ...sighting, ad_ids: slice } });
    }
    for (const slice of chunk(hidden, BULK_IDS_MAX)) {
      events.push({ type: 'AdsStillInactive', data: { ...sighting, kind: 'absent', ad_ids: slice } });
    }
    return events;
  };

/** At the later scan that confirms it (rule 1). Not news. `looks`: complete scans after the one that showed the ad. */
export const stopSince = (
  scan: ScanHeader,
  confirmedAt: string,
  looks: readonly PageLook[],
  about: AdCounted & { readonly excerpt: AdExcerpt },
): AdLibraryEvent[] => {
  const look = looks.find(({ observed_at }) => observed_at === confirmedAt);
  if (!look) return [];
  return [
    {
      type: 'AdConfirmedInactive',
      data: {
        brand_id: scan.brand_id,
        scan_id: look.scan_id,
        observed_at: look.observed_at,
        ...about,
        basis: 'absence',
        stopped_on: null,
        last_seen_at: scan.scanned_at,
        observed_running: true,
        news: false,
      },
    },
  ];
};
