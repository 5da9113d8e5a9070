import {
  type AdContent,
  type AdCounted,
  type AdExcerpt,
  type AdLibraryFact,
  type Aspect,
  excerptOfBody,
  type Novelty,
  type ScanRecorded,
} from '#contracts/events/ad-library.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { changesOf, compareContent, contentOf, framesTheSameText, pick } from './ad-content.ts';
import {
  collectorOf,
  emptyLibrary,
  evolve,
  formatOf,
  type KnownAd,
  type KnownPage,
  lastSeenAt,
  type LibraryState,
  NO_COUNTS,
  NO_PAGE,
} from './ad-library-state.ts';

/**
 * From library scans to facts: the eleven rules of DESIGN §5. A scan is decided in parts, so that its size
 * is bounded by nothing here: sightings of some of its ads at a time, then absences, then its end. Each part
 * decided again on the state after its own facts records nothing.
 */
export const adLibrary = {
  get initial(): LibraryState {
    return emptyLibrary();
  },
  evolve,
};

/** Absence confirms a stop when this long passed since the first complete scan that missed the ad (rule 1). */
export const ABSENCE_CONFIRMS_AFTER_HOURS = 20;
/** A start date this long before the last complete scan still counts as after it (rule 3). */
const NEWS_GRACE_DAYS = 1;
/** Ids that one bulk fact holds at most. */
export const BULK_IDS_MAX = 5_000;
const REWORDED_ADS_PER_FACT = 100;

const HOUR_MS = 3_600_000;

export type ScanHeader = {
  readonly scan_id: string;
  readonly brand_id: string;
  readonly scanned_for: string;
  readonly scanned_at: string;
  readonly complete: boolean;
  readonly countries: readonly string[];
  readonly collector: string;
  readonly pages: readonly { readonly page_id: string; readonly page_name: string | null }[];
};

/** What other brands' scans tell of a page: its baseline and completeness are the page's, not a brand's. */
export type PageHistory = {
  readonly first_scan_at: string;
  readonly last_scan_at: string;
  readonly last_complete_at: string | null;
};
export type PageHistories = ReadonlyMap<string, PageHistory>;

const dayOf = (timestamp: string): string => timestamp.slice(0, 10);
const daysBefore = (timestamp: string, days: number): string =>
  new Date(Date.parse(timestamp) - days * 24 * HOUR_MS).toISOString().slice(0, 10);
const hoursBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / HOUR_MS;

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

const countedOf = (ad: KnownAd): AdCounted => ({
  ad_id: ad.ad_id,
  format: formatOf(ad.content),
  countries: ad.countries,
  started_on: ad.started_on,
});

const excerptOf = (pageId: string | null, pageName: string | null, content: AdContent): AdExcerpt => ({
  page_id: pageId,
  page_name: pageName,
  title: content.title,
  body: excerptOfBody(content.body),
});

const chunked = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );

type Pair = { readonly known: KnownAd; readonly page: KnownPage | undefined; readonly seen: AdContent };

/** Per aspect: how many ads could differ because the collector changed, and how many do. */
export type RewordingTally = Record<Aspect, { comparable: number; different: number }>;
export const emptyTally = (): RewordingTally => ({
  copy: { comparable: 0, different: 0 },
  cta: { comparable: 0, different: 0 },
  format: { comparable: 0, different: 0 },
  destination: { comparable: 0, different: 0 },
});

/** Whether a scan's collector is another than that of its pages' last scan, so that rule 6 must be weighed. */
export const collectorChanged = (scan: ScanHeader, state: LibraryState): boolean =>
  scan.pages.some(({ page_id }) => {
    const page = state.pages.get(page_id);
    return page !== undefined && page.collector !== scan.collector;
  });

/** Adds these ads to the tally of rule 6. Ads last seen by the same collector do not count. */
export const tallyRewording =
  (scan: ScanHeader, ads: readonly ObservedAd[], tally: RewordingTally) =>
  (state: LibraryState): RewordingTally => {
    for (const ad of ads) {
      const known = state.ads.get(ad.ad_id);
      if (!known || collectorOf(known, state.pages.get(known.page_id ?? NO_PAGE)) === scan.collector)
        continue;
      const { comparable, different } = compareContent(known.content, contentOf(ad));
      for (const aspect of comparable) tally[aspect].comparable += 1;
      for (const aspect of different.keys()) tally[aspect].different += 1;
    }
    return tally;
  };

/** Rule 6: an aspect that differs for most ads is worded by the collector. */
export const rewordedAspects = (tally: RewordingTally): readonly Aspect[] =>
  (Object.keys(tally) as Aspect[]).filter((aspect) => tally[aspect].different * 2 > tally[aspect].comparable);

/**
 * Facts of some ads of a scan. `reworded` is the scan's verdict by rule 6; `history` tells of its pages
 * before this scan.
 */
export const recordSightings =
  (scan: ScanHeader, ads: readonly ObservedAd[], reworded: readonly Aspect[], history: PageHistories) =>
  (state: LibraryState): AdLibraryFact[] => {
    if (state.recordedScans.has(scan.scan_id)) return [];
    const sighting = { brand_id: scan.brand_id, scan_id: scan.scan_id, observed_at: scan.scanned_at };
    const covered = new Set(scan.complete ? scan.pages.map(({ page_id }) => page_id) : []);
    const facts: AdLibraryFact[] = [];
    const seen: string[] = [];
    const rewordings: {
      ad_id: string;
      wording: Partial<AdContent>;
      format: AdCounted['format'];
      was_format: AdCounted['format'];
      countries: readonly string[];
      live: boolean;
    }[] = [];
    const wordedByCollector = new Set(reworded);

    const start = (ad: ObservedAd): void => {
      const page = history.get(ad.page_id ?? NO_PAGE);
      const novelty = noveltyOf(ad, scan, page);
      const content = contentOf(ad);
      const counted = {
        ad_id: ad.ad_id,
        format: formatOf(content),
        countries: scan.countries,
        started_on: ad.started_on,
      };
      const overtaken =
        page?.last_complete_at && page.last_complete_at > scan.scanned_at && ad.page_id !== null;
      facts.push({
        type: 'AdStarted',
        data: {
          ...sighting,
          ...counted,
          page_id: ad.page_id,
          page_name: ad.page_name,
          novelty,
          missing_since: overtaken ? page.last_complete_at : null,
          collector: scan.collector,
          content,
        },
      });
      if (endedInLibrary(ad, scan.scanned_at)) {
        facts.push({
          type: 'AdConfirmedInactive',
          data: {
            ...sighting,
            ...counted,
            excerpt: excerptOf(ad.page_id, ad.page_name, content),
            basis: 'library',
            stopped_on: ad.stopped_on,
            last_seen_at: scan.scanned_at,
            news: novelty === 'news',
          },
        });
      }
    };

    const compare = (ad: ObservedAd, { known, page, seen: content }: Pair): void => {
      const about = { ...sighting, ...countedOf(known) };
      const pageId = known.page_id ?? ad.page_id;
      const pageName = known.page_name ?? ad.page_name;
      const excerpt = excerptOf(pageId, pageName, known.content);
      const comparison = compareContent(known.content, content);
      const revised: (keyof AdContent)[] = [];
      const ambiguous =
        collectorOf(known, page) !== scan.collector &&
        page !== undefined &&
        page.collector === scan.collector;
      const wording: (keyof AdContent)[] = [];
      for (const [aspect, fields] of comparison.different) {
        // An ad that missed the switch of collectors cannot tell a new wording from a new text; and at a
        // switch, a text that only gained or lost what frames it is the collector's in any case.
        const byCollector =
          collectorOf(known, page) !== scan.collector &&
          (wordedByCollector.has(aspect) || ambiguous || framesTheSameText(known.content, content, fields));
        if (byCollector) wording.push(...fields);
        else if (aspect !== 'destination') revised.push(...fields);
        else if (known.content.link_url !== null && content.link_url !== null) {
          facts.push({
            type: 'AdDestinationChanged',
            data: { ...about, excerpt, from_url: known.content.link_url, to_url: content.link_url },
          });
        }
      }
      if (revised.length > 0) {
        facts.push({
          type: 'AdRevised',
          data: { ...about, excerpt, changes: changesOf(known.content, content, revised) },
        });
      }
      if (wording.length > 0) {
        const worded = pick(content, wording);
        rewordings.push({
          ad_id: ad.ad_id,
          wording: worded,
          format: worded.format ?? formatOf(known.content),
          was_format: formatOf(known.content),
          countries: known.countries,
          live: known.status !== 'inactive',
        });
      }
      const countries = [
        ...known.countries,
        ...scan.countries.filter((country) => !known.countries.includes(country)),
      ];
      const completes =
        comparison.completed.length > 0 ||
        countries.length > known.countries.length ||
        (known.started_on === null && ad.started_on !== null) ||
        (known.page_id === null && ad.page_id !== null);
      if (completes) {
        facts.push({
          type: 'AdDetailsObserved',
          data: {
            ...about,
            started_on: known.started_on ?? ad.started_on,
            countries,
            details: pick(content, comparison.completed),
            page_id: pageId,
            page_name: pageName,
            was_format: formatOf(known.content),
            added_countries: countries.slice(known.countries.length),
            live: known.status !== 'inactive',
          },
        });
      }
    };

    for (const ad of ads) {
      const known = state.ads.get(ad.ad_id);
      if (!known) {
        start(ad);
        continue;
      }
      const page = state.pages.get(known.page_id ?? NO_PAGE);
      // Rule 11: what an older scan shows of a known ad is history, and moves nothing.
      if (scan.scanned_at < lastSeenAt(known, page)) continue;
      const lastScanOfPage = history.get(known.page_id ?? NO_PAGE)?.last_scan_at;
      if (lastScanOfPage !== undefined && scan.scanned_at < lastScanOfPage) continue;
      if (known.inactive_since !== null && scan.scanned_at <= known.inactive_since) continue;
      if (endedInLibrary(ad, scan.scanned_at)) {
        if (known.status !== 'inactive') {
          facts.push({
            type: 'AdConfirmedInactive',
            data: {
              ...sighting,
              ...countedOf(known),
              excerpt: excerptOf(known.page_id, known.page_name, known.content),
              basis: 'library',
              stopped_on: ad.stopped_on,
              last_seen_at: lastSeenAt(known, page),
              news: known.observed_running,
            },
          });
        }
        continue;
      }
      if (known.status === 'inactive') {
        facts.push({
          type: 'AdReturned',
          data: {
            ...sighting,
            ...countedOf(known),
            excerpt: excerptOf(known.page_id, known.page_name, known.content),
            inactive_since: known.inactive_since ?? known.seen_at,
          },
        });
      } else {
        const implied = known.status === 'active' && known.page_id !== null && covered.has(known.page_id);
        if (!implied && lastSeenAt(known, page) < scan.scanned_at) seen.push(ad.ad_id);
        else if (known.status === 'missing') seen.push(ad.ad_id);
      }
      compare(ad, { known, page, seen: contentOf(ad) });
    }
    for (const adIds of chunked(seen, BULK_IDS_MAX)) {
      facts.push({ type: 'AdsSeen', data: { ...sighting, ad_ids: adIds } });
    }
    for (const slice of chunked(rewordings, REWORDED_ADS_PER_FACT)) {
      facts.push({
        type: 'AdsReworded',
        data: { ...sighting, collector: scan.collector, aspects: reworded, ads: slice },
      });
    }
    return facts;
  };

/** Whether a scan's silence about this ad means anything: page and countries covered, and nothing newer known. */
const judgesAbsence = (scan: ScanHeader, ad: KnownAd, state: LibraryState): boolean => {
  if (!scan.complete || ad.page_id === null || ad.status === 'inactive') return false;
  if (!scan.pages.some(({ page_id }) => page_id === ad.page_id)) return false;
  if (!scan.countries.includes('ALL') && !ad.countries.every((country) => scan.countries.includes(country)))
    return false;
  const page = state.pages.get(ad.page_id);
  return (
    scan.scanned_at > lastSeenAt(ad, page) && (page === undefined || scan.scanned_at > page.last_scan_at)
  );
};

/** Facts about known ads that the scan, now fully read, did not show (rule 1). */
export const recordAbsences =
  (scan: ScanHeader, adIds: readonly string[]) =>
  (state: LibraryState): AdLibraryFact[] => {
    if (state.recordedScans.has(scan.scan_id)) return [];
    const sighting = { brand_id: scan.brand_id, scan_id: scan.scan_id, observed_at: scan.scanned_at };
    const absent = adIds
      .map((adId) => state.ads.get(adId))
      .filter((ad): ad is KnownAd => ad !== undefined && judgesAbsence(scan, ad, state));
    const facts: AdLibraryFact[] = absent
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
    for (const slice of chunked(missed, BULK_IDS_MAX)) {
      facts.push({ type: 'AdsMissed', data: { ...sighting, ad_ids: slice } });
    }
    return facts;
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
          pages: scan.pages.map((page) => ({ ...page, baseline: !history.has(page.page_id) })),
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
