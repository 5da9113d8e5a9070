import { DAY_MS, utcDate, utcDateOfMs } from '#contracts/values/time.ts';
import { chunk } from 'es-toolkit';
import type { AdLibraryEvent, Aspect, Novelty, ScanRecorded } from '#contracts/events/corpus/ad-library.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { contentOf } from './ad-content.ts';
import { compareSighting, type RewordedAd } from './compare-sighting.ts';
import {
  countedOf,
  excerptOf,
  type PageHistories,
  type PageHistory,
  type ScanHeader,
  sightingOf,
} from './scan.ts';
import {
  emptyLibrary,
  evolve,
  formatOf,
  type AdState,
  type ScannedPage,
  lastSeenAt,
  type LibraryState,
  NO_COUNTS,
  NO_PAGE,
} from './state.ts';
import type { Decider } from '#domain/decider.ts';
import { boundedGroups, BULK_IDS_MAX } from '#domain/event-size-limit.ts';

/**
 * Aggregate ad library, stream `adLibrary-<brandId>`: the ads of one brand, by the rules of the ad library
 * (services/domain/README.md).
 * Parts, in order: state and evolve (`state.ts`), decisions (`recordSightings`, `recordAbsences` in `absences.ts`,
 * `recordScan`).
 *
 * A scan of any size is decided in parts: first the sightings, some ads at a time, then the absences, then the end of
 * the scan. A part that is decided again on the state after its own events records nothing.
 *
 * This file implements rules 1 to 3, 9 and 11, except for absence (rule 1), which is in `absences.ts`. Rules 4 and 5
 * are in `ad-content.ts`, `ad-cards.ts` and `contracts/values/ad-destination.ts`. Rule 6 is in
 * `collector-rewording.ts` and `compare-sighting.ts`. Rules 7 and 8 are in the readers and the staging of
 * observations, rule 10 in the staging.
 */

/** `initial` returns a new state at each access, because `evolve` changes the state in place. */
export const adLibrary: Decider<LibraryState, AdLibraryEvent> = {
  get initial(): LibraryState {
    return emptyLibrary();
  },
  evolve,
};

/** Days by which a start date may precede the last complete scan and still count as after it (rule 3). */
const NEWS_GRACE_DAYS = 1;
/** Maximum ads in one `AdsReworded` event. */
const REWORDED_ADS_PER_EVENT = 100;
/** Maximum JSON characters of the wordings in one event. In any script they then fit into one append. */
const REWORDED_CHARACTERS_PER_EVENT = 200_000;

const daysBefore = (timestamp: string, days: number): string =>
  utcDateOfMs(Date.parse(timestamp) - days * DAY_MS);

/** True when the library shows the ad as ended: by its flag, else by a stop date not after the scan (rules 1, 7). */
const endedInLibrary = (ad: ObservedAd, scannedAt: string): boolean =>
  ad.is_active === false ||
  (ad.is_active === null && ad.stopped_on !== null && ad.stopped_on <= utcDate(scannedAt));

/** Returns the novelty of a first sighting by rule 3, from the page's history before this scan. */
const noveltyOf = (ad: ObservedAd, scan: ScanHeader, page: PageHistory | undefined): Novelty => {
  if (!page || scan.scanned_at === page.first_scan_at) return 'baseline';
  if (scan.scanned_at < page.last_scan_at || ad.started_on === null || page.last_complete_at === null)
    return 'late';
  return ad.started_on >= daysBefore(page.last_complete_at, NEWS_GRACE_DAYS) ? 'news' : 'late';
};

/** Returns the start of a new ad, and its stop if the library already shows it as ended. */
const startAd = (scan: ScanHeader, ad: ObservedAd, page: PageHistory | undefined): AdLibraryEvent[] => {
  const novelty = noveltyOf(ad, scan, page);
  const content = contentOf(ad);
  const about = {
    ...sightingOf(scan),
    ad_id: ad.ad_id,
    format: formatOf(content),
    countries: scan.countries,
    started_on: ad.started_on,
  };
  const { page_id, page_name } = ad;
  const isOvertaken = page?.last_complete_at && page.last_complete_at > scan.scanned_at && page_id !== null;
  const missing_since = isOvertaken ? page.last_complete_at : null;
  const { collector } = scan;
  const partner = ad.branded_content ? { branded_content: ad.branded_content } : {};
  const events: AdLibraryEvent[] = [
    {
      type: 'AdStarted',
      data: { ...about, page_id, page_name, novelty, missing_since, collector, content, ...partner },
    },
  ];
  if (endedInLibrary(ad, scan.scanned_at)) {
    events.push({
      type: 'AdConfirmedInactive',
      data: {
        ...about,
        excerpt: excerptOf(page_id, page_name, content),
        basis: 'library',
        stopped_on: ad.stopped_on,
        last_seen_at: scan.scanned_at,
        observed_running: false,
        news: novelty === 'news',
      },
    });
  }
  return events;
};

/** True when the scan is older than the state of the ad. Such a sighting is history and changes nothing (rule 11). */
const isHistory = (
  scan: ScanHeader,
  existing: AdState,
  page: ScannedPage | undefined,
  history: PageHistories,
): boolean => {
  const lastScanOfPage = history.get(existing.page_id ?? NO_PAGE)?.last_scan_at;
  return (
    scan.scanned_at < lastSeenAt(existing, page) ||
    (lastScanOfPage !== undefined && scan.scanned_at < lastScanOfPage) ||
    (existing.inactive_since !== null && scan.scanned_at <= existing.inactive_since)
  );
};

/** Returns the stop of an existing ad that the library shows as ended (rule 1). */
const stopAd = (
  scan: ScanHeader,
  ad: ObservedAd,
  existing: AdState,
  page: ScannedPage | undefined,
): AdLibraryEvent[] =>
  existing.status === 'inactive'
    ? []
    : [
        {
          type: 'AdConfirmedInactive',
          data: {
            ...sightingOf(scan),
            ...countedOf(existing),
            excerpt: excerptOf(existing.page_id, existing.page_name, existing.content),
            basis: 'library',
            stopped_on: ad.stopped_on,
            last_seen_at: lastSeenAt(existing, page),
            observed_running: true,
            news: existing.observed_running,
          },
        },
      ];

/** Returns the event of a stopped ad that runs again (rule 2). */
const returnAd = (scan: ScanHeader, existing: AdState): AdLibraryEvent => ({
  type: 'AdReturned',
  data: {
    ...sightingOf(scan),
    ...countedOf(existing),
    excerpt: excerptOf(existing.page_id, existing.page_name, existing.content),
    inactive_since: existing.inactive_since ?? existing.seen_at,
  },
});

/**
 * True when a sighting needs an `AdsSeen` event. The end of a complete scan implies that the active ads of its fully
 * covered pages were seen, so these need none.
 */
const needsSeenEvent = (
  scan: ScanHeader,
  existing: AdState,
  page: ScannedPage | undefined,
  covered: ReadonlySet<string>,
): boolean => {
  if (existing.status === 'missing') return true;
  if (existing.page_id !== null && covered.has(existing.page_id)) return false;
  return lastSeenAt(existing, page) < scan.scanned_at;
};

/**
 * Records the sightings of some ads of a scan. `rewordedAspects`: aspects that the collector reworded (rule 6).
 * `history`: earlier scans of the scan's pages, by page id.
 */
export const recordSightings =
  (
    scan: ScanHeader,
    ads: readonly ObservedAd[],
    rewordedAspects: readonly Aspect[],
    history: PageHistories,
  ) =>
  (state: LibraryState): AdLibraryEvent[] => {
    if (state.recordedScans.has(scan.scan_id)) return [];
    const covered = new Set(scan.complete ? scan.pages.map(({ page_id }) => page_id) : []).difference(
      scan.partialPages,
    );
    const events: AdLibraryEvent[] = [];
    const seen: string[] = [];
    const rewordings: RewordedAd[] = [];
    for (const ad of ads) {
      const existing = state.ads.get(ad.ad_id);
      if (!existing) {
        events.push(...startAd(scan, ad, history.get(ad.page_id ?? NO_PAGE)));
        continue;
      }
      const page = state.pages.get(existing.page_id ?? NO_PAGE);
      if (isHistory(scan, existing, page, history)) continue;
      if (endedInLibrary(ad, scan.scanned_at)) {
        events.push(...stopAd(scan, ad, existing, page));
        continue;
      }
      if (existing.status === 'inactive') events.push(returnAd(scan, existing));
      else if (needsSeenEvent(scan, existing, page, covered)) seen.push(ad.ad_id);
      const compared = compareSighting(scan, ad, existing, page, rewordedAspects);
      events.push(...compared.events);
      if (compared.reworded) rewordings.push(compared.reworded);
    }
    const sighting = sightingOf(scan);
    for (const adIds of chunk(seen, BULK_IDS_MAX)) {
      events.push({ type: 'AdsSeen', data: { ...sighting, ad_ids: adIds } });
    }
    for (const slice of boundedGroups(rewordings, REWORDED_CHARACTERS_PER_EVENT, REWORDED_ADS_PER_EVENT)) {
      events.push({
        type: 'AdsReworded',
        data: { ...sighting, collector: scan.collector, aspects: rewordedAspects, ads: slice },
      });
    }
    return events;
  };

export type ScanEnd = {
  /** Distinct ads of this brand that the scan showed. */
  readonly seen: number;
  /** Pages linked to the brand (rule 9). If empty, the pages that complete scans have covered so far are used. */
  readonly linkedPages: readonly string[];
};

/** True when complete scans of this day cover every page linked to the brand (rule 9). */
const isReliable = (scan: ScanHeader, { linkedPages }: ScanEnd, state: LibraryState): boolean => {
  if (!scan.complete || scan.pages.length === 0) return false;
  const now = new Set(scan.pages.map(({ page_id }) => page_id));
  const own =
    linkedPages.length > 0
      ? linkedPages
      : [...state.pages.values()]
          .filter(({ last_complete_at }) => last_complete_at !== null)
          .map(({ page_id }) => page_id);
  return own.every((pageId) => {
    const completeAt = state.pages.get(pageId)?.last_complete_at;
    return now.has(pageId) || (completeAt != null && utcDate(completeAt) === utcDate(scan.scanned_at));
  });
};

/** Closes the scan with its totals. A scan that is already recorded adds no events. */
export const recordScan =
  (scan: ScanHeader, end: ScanEnd, history: PageHistories) =>
  (state: LibraryState): ScanRecorded[] => {
    if (state.recordedScans.has(scan.scan_id)) return [];
    const counts = state.open?.scan_id === scan.scan_id ? state.open.counts : NO_COUNTS;
    const late = scan.pages.some(({ page_id }) => {
      const page = history.get(page_id);
      return page !== undefined && scan.scanned_at < page.last_scan_at;
    });
    return [
      {
        type: 'ScanRecorded',
        data: {
          brand_id: scan.brand_id,
          scan_id: scan.scan_id,
          observed_at: scan.scanned_at,
          scanned_for: scan.scanned_for,
          collector: scan.collector,
          complete: scan.complete,
          countries: scan.countries,
          pages: scan.pages.map((page) => ({
            ...page,
            baseline: !history.has(page.page_id),
            ...(scan.partialPages.has(page.page_id) ? { partial: true } : {}),
          })),
          reliable: isReliable(scan, end, state),
          late_arrival: late,
          totals: {
            seen: end.seen,
            active: state.live,
            missing: state.missing,
            total: state.total,
            ...counts,
          },
        },
      },
    ];
  };
