import { HOUR_MS } from '#contracts/values/time.ts';
import { chunk } from 'es-toolkit';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { countedOf, excerptOf, type ScanHeader, sightingOf } from './scan.ts';
import { type AdState, lastSeenAt, type LibraryState } from './state.ts';
import { BULK_IDS_MAX } from '#domain/event-size-limit.ts';

/**
 * Decision `recordAbsences` of the ad library: ads that a complete scan did not show (rule 1 of
 * services/domain/README.md). The first absence marks an ad as missing. A second one confirms the stop, if enough time
 * has passed.
 */

/** Minimum hours between the first complete scan that missed an ad and the one that confirms its stop (rule 1). */
export const ABSENCE_CONFIRMS_AFTER_HOURS = 20;

const hoursBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / HOUR_MS;

/** True when the scan covered the ad's page and countries, and the ad was not seen by a newer scan. */
const countsAsAbsent = (scan: ScanHeader, ad: AdState, state: LibraryState): boolean => {
  if (!scan.complete || ad.page_id === null || ad.status === 'inactive') return false;
  if (!scan.pages.some(({ page_id }) => page_id === ad.page_id)) return false;
  if (!scan.countries.includes('ALL') && !ad.countries.every((country) => scan.countries.includes(country)))
    return false;
  const page = state.pages.get(ad.page_id);
  return (
    scan.scanned_at > lastSeenAt(ad, page) && (page === undefined || scan.scanned_at >= page.last_scan_at)
  );
};

/**
 * Records the ads among `adIds` that the scan did not show (rule 1). Call it after all sightings of the scan have been
 * recorded. A scan that is already recorded adds no events.
 */
export const recordAbsences =
  (scan: ScanHeader, adIds: readonly string[]) =>
  (state: LibraryState): AdLibraryEvent[] => {
    if (state.recordedScans.has(scan.scan_id)) return [];
    const sighting = sightingOf(scan);
    const absent = adIds
      .map((adId) => state.ads.get(adId))
      .filter((ad): ad is AdState => ad !== undefined && countsAsAbsent(scan, ad, state));
    const events: AdLibraryEvent[] = absent
      .filter(
        ({ missing_since }) =>
          missing_since !== null &&
          hoursBetween(missing_since, scan.scanned_at) >= ABSENCE_CONFIRMS_AFTER_HOURS,
      )
      .map((ad) => ({
        type: 'AdConfirmedInactive',
        data: {
          ...sighting,
          ...countedOf(ad),
          excerpt: excerptOf(ad.page_id, ad.page_name, ad.content),
          basis: 'absence',
          stopped_on: null,
          last_seen_at: ad.seen_at,
          news: ad.observed_running,
        },
      }));
    const missed = absent.filter(({ status }) => status === 'active').map(({ ad_id }) => ad_id);
    for (const slice of chunk(missed, BULK_IDS_MAX)) {
      events.push({ type: 'AdsMissed', data: { ...sighting, ad_ids: slice } });
    }
    return events;
  };
