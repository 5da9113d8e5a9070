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
  type KnownAd,
  type KnownPage,
  lastSeenAt,
  type LibraryState,
  NO_COUNTS,
  NO_PAGE,
} from './state.ts';
import { boundedGroups, BULK_IDS_MAX } from '#domain/event-size-limit.ts';

/**
 * From library scans to events: the eleven rules of DESIGN §5. A scan is decided in parts, so that its size
 * is bounded by nothing here: sightings of some of its ads at a time, then absences, then its end. Each part
 * decided again on the state after its own events records nothing.
 *
 * Rules 1 to 3, 9 and 11 stand here, of rule 1 what absence means in `ad-library-absences.ts`; 4 and 5 in
 * `ad-content.ts` and `contracts/values/ad-destination.ts`; 6 in `ad-library-rewording.ts` and `ad-library-comparison.ts`; 7
 * and 8 with the readers and the staging of observations; 10 with the staging.
 */
export const adLibrary = {
  get initial(): LibraryState {
    return emptyLibrary();
  },
  evolve,
};

/** A start date this long before the last complete scan still counts as after it (rule 3). */
const NEWS_GRACE_DAYS = 1;
const REWORDED_ADS_PER_EVENT = 100;
/** Of one event's wordings as JSON: in any script they fit into an append with what surrounds them. */
const REWORDED_CHARACTERS_PER_EVENT = 200_000;

const HOUR_MS = 3_600_000;

const dayOf = (timestamp: string): string => timestamp.slice(0, 10);
const daysBefore = (timestamp: string, days: number): string =>
  new Date(Date.parse(timestamp) - days * 24 * HOUR_MS).toISOString().slice(0, 10);

/** The library says that the ad has ended: by its flag, else by a stop date not after the scan (rules 1, 7). */
const endedInLibrary = (ad: ObservedAd, scannedAt: string): boolean =>
  ad.is_active === false ||
  (ad.is_active === null && ad.stopped_on !== null && ad.stopped_on <= dayOf(scannedAt));

/** Rule 3, on the page's history before this scan. */
const noveltyOf = (ad: ObservedAd, scan: ScanHeader, page: PageHistory | undefined): Novelty => {
  if (!page || scan.scanned_at === page.first_scan_at) return 'baseline';
  if (scan.scanned_at < page.last_scan_at || ad.started_on === null || page.last_complete_at === null)
    return 'late';
  return ad.started_on >= daysBefore(page.last_complete_at, NEWS_GRACE_DAYS) ? 'news' : 'late';
};

/** An ad never seen before, and its stop where the library shows it as ended already. */
const start = (scan: ScanHeader, ad: ObservedAd, page: PageHistory | undefined): AdLibraryEvent[] => {
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
  const overtaken = page?.last_complete_at && page.last_complete_at > scan.scanned_at && page_id !== null;
  const missing_since = overtaken ? page.last_complete_at : null;
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
        news: novelty === 'news',
      },
    });
  }
  return events;
};

/** Rule 11: what an older scan shows of a known ad is history, and moves nothing. */
const isHistory = (
  scan: ScanHeader,
  known: KnownAd,
  page: KnownPage | undefined,
  history: PageHistories,
): boolean => {
  const lastScanOfPage = history.get(known.page_id ?? NO_PAGE)?.last_scan_at;
  return (
    scan.scanned_at < lastSeenAt(known, page) ||
    (lastScanOfPage !== undefined && scan.scanned_at < lastScanOfPage) ||
    (known.inactive_since !== null && scan.scanned_at <= known.inactive_since)
  );
};

/** A known ad that the library shows as ended. */
const stop = (
  scan: ScanHeader,
  ad: ObservedAd,
  known: KnownAd,
  page: KnownPage | undefined,
): AdLibraryEvent[] =>
  known.status === 'inactive'
    ? []
    : [
        {
          type: 'AdConfirmedInactive',
          data: {
            ...sightingOf(scan),
            ...countedOf(known),
            excerpt: excerptOf(known.page_id, known.page_name, known.content),
            basis: 'library',
            stopped_on: ad.stopped_on,
            last_seen_at: lastSeenAt(known, page),
            news: known.observed_running,
          },
        },
      ];

const comeBack = (scan: ScanHeader, known: KnownAd): AdLibraryEvent => ({
  type: 'AdReturned',
  data: {
    ...sightingOf(scan),
    ...countedOf(known),
    excerpt: excerptOf(known.page_id, known.page_name, known.content),
    inactive_since: known.inactive_since ?? known.seen_at,
  },
});

/** The end of a complete scan implies that its whole pages' active ads were seen; other sightings are said. */
const mustBeSaid = (
  scan: ScanHeader,
  known: KnownAd,
  page: KnownPage | undefined,
  covered: ReadonlySet<string>,
): boolean => {
  if (known.status === 'missing') return true;
  if (known.page_id !== null && covered.has(known.page_id)) return false;
  return lastSeenAt(known, page) < scan.scanned_at;
};

/**
 * Events of some ads of a scan. `verdict` names the aspects that rule 6 takes for the collector's; `history`
 * tells of the scan's pages before it.
 */
export const recordSightings =
  (scan: ScanHeader, ads: readonly ObservedAd[], verdict: readonly Aspect[], history: PageHistories) =>
  (state: LibraryState): AdLibraryEvent[] => {
    if (state.recordedScans.has(scan.scan_id)) return [];
    const covered = new Set(scan.complete ? scan.pages.map(({ page_id }) => page_id) : []).difference(
      scan.partialPages,
    );
    const events: AdLibraryEvent[] = [];
    const seen: string[] = [];
    const rewordings: RewordedAd[] = [];
    for (const ad of ads) {
      const known = state.ads.get(ad.ad_id);
      if (!known) {
        events.push(...start(scan, ad, history.get(ad.page_id ?? NO_PAGE)));
        continue;
      }
      const page = state.pages.get(known.page_id ?? NO_PAGE);
      if (isHistory(scan, known, page, history)) continue;
      if (endedInLibrary(ad, scan.scanned_at)) {
        events.push(...stop(scan, ad, known, page));
        continue;
      }
      if (known.status === 'inactive') events.push(comeBack(scan, known));
      else if (mustBeSaid(scan, known, page, covered)) seen.push(ad.ad_id);
      const compared = compareSighting(scan, ad, known, page, verdict);
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
        data: { ...sighting, collector: scan.collector, aspects: verdict, ads: slice },
      });
    }
    return events;
  };

export type ScanEnd = {
  /** Distinct ads of this brand that the scan showed. */
  readonly seen: number;
  /** Pages linked to the brand (rule 9). Empty: the pages its complete scans have covered so far. */
  readonly linkedPages: readonly string[];
};

/** Rule 9: complete scans of this day cover every page linked to the brand. */
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
    return now.has(pageId) || (completeAt != null && dayOf(completeAt) === dayOf(scan.scanned_at));
  });
};

/** Closes the scan of one brand with its totals. Scans already recorded are closed once. */
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
