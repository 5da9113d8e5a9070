import { omit } from 'es-toolkit/object/omit';
import type {
  AdLook,
  AdRecord,
  AdStanding,
  BrandSince,
} from '#contracts/events/corpus/ad-library-corrections.ts';
import type { AdContent, AdsNow, Novelty, ScanTotals } from '#contracts/events/corpus/ad-library-values.ts';
import type { BrandedContent } from '#contracts/observations/ad-library-scan.ts';
import type { AdFormat } from '#contracts/values/primitives.ts';

import { looksForEvent } from './timeline.ts';

/** State of the ad library; see `evolve.ts` for its events and `decider.ts` for the aggregate. */

/** Page key shared by all ads whose source names no page. Scans never cover this page. */
export const NO_PAGE = '';

export type AdStatus = 'active' | 'missing' | 'inactive';

/** One ad of the brand, as recorded so far. */
export type AdState = {
  readonly ad_id: string;
  readonly page_id: string | null;
  readonly page_name: string | null;
  readonly status: AdStatus;
  readonly novelty: Novelty;
  /**
   * Time of the last sighting with an event of its own. A later complete scan may imply a sighting; see `lastSeenAt`.
   */
  readonly seen_at: string;
  readonly missing_since: string | null;
  readonly inactive_since: string | null;
  /** True when some scan showed the ad running. */
  readonly observed_running: boolean;
  readonly started_on: string | null;
  /** Countries in which the ad is said to run. */
  readonly countries: readonly string[];
  /** Countries that the scans which showed the ad requested; its pairs (rule 1). Absent when equal to `countries`. */
  readonly requested_countries?: readonly string[];
  /** Time of the first scan that showed the ad. */
  readonly first_seen_at: string;
  readonly basis: 'library' | 'absence' | null;
  readonly stopped_on: string | null;
  /** Looks that do not follow from the one before (`timeline.ts`), in the order of observation. */
  readonly looks: readonly AdLook[];
  /** Ids of all brands that the ad ever belonged to; absent when it has not moved. */
  readonly brands?: readonly string[];
  /** Its brands in the order of time; absent when it has not moved. */
  readonly placings?: readonly BrandSince[];
  /** Time of the last move. Scans before it imply no look. */
  readonly moved_at?: string;
  /** The collector of the first scan that showed the ad, or of the last one that reworded it. */
  readonly collector: string;
  readonly content: AdContent;
  /** The partner that the ad names; absent when none was seen. */
  readonly branded_content?: BrandedContent;
};

/** Scans of one page, as recorded in this brand's stream. */
export type ScannedPage = {
  readonly page_id: string;
  readonly first_scan_at: string;
  readonly last_scan_at: string;
  readonly last_complete_at: string | null;
  /**
   * The complete scan before the last one. Several scans of one time, each of other countries, all use it as the scan
   * before them.
   */
  readonly complete_before?: string | null;
  /** The last complete scan that showed every active ad. Absent in older states, where `last_complete_at` applies. */
  readonly all_seen_at?: string | null;
};

export type ScanCounts = Omit<ScanTotals, 'seen' | 'active' | 'missing' | 'total'>;

/**
 * The part of a brand's ads that a decision needs: counters over all ads, and the ads and pages that the current scan
 * touches. The state store of ingest loads only these.
 */
export type LibraryState = {
  readonly ads: Map<string, AdState>;
  readonly pages: Map<string, ScannedPage>;
  readonly recordedScans: Set<string>;
  live: number;
  missing: number;
  total: number;
  /** The scan that is recorded in part: its counts so far, and the differences of its collector (rule 6). */
  open: {
    readonly scan_id: string;
    readonly counts: ScanCounts;
    readonly differences: readonly string[];
  } | null;
};

/** Returns the ads that the brand has now. */
export const adsNowOf = ({ live, total }: LibraryState): AdsNow => ({ active: live, total });

export const NO_COUNTS: ScanCounts = {
  baseline: 0,
  news: 0,
  late: 0,
  stopped: 0,
  returned: 0,
  revised: 0,
  destination_changed: 0,
  reworded: 0,
};

export const emptyLibrary = (): LibraryState => ({
  ads: new Map(),
  pages: new Map(),
  recordedScans: new Set(),
  live: 0,
  missing: 0,
  total: 0,
  open: null,
});

/** Returns the time of the last complete scan that showed every active ad of the page. */
export const allSeenAt = ({ all_seen_at, last_complete_at }: ScannedPage): string | null =>
  all_seen_at === undefined ? last_complete_at : all_seen_at;

/** True when the last scan that covered the ad's page did not show the ad, although it is not missing. */
export const isNotShownSince = ({ status, looks }: AdState): boolean =>
  status === 'active' && looks.at(-1)?.kind === 'absent';

/**
 * Returns the time at which the ad was last seen. An active ad was also seen by the last complete scan of its page that
 * showed every active ad, without an event of its own.
 */
export const lastSeenAt = (ad: AdState, page: ScannedPage | undefined): string => {
  const isImplied = ad.status === 'active' && ad.page_id !== null && !isNotShownSince(ad);
  const allSeen = page && isImplied ? allSeenAt(page) : null;
  return allSeen !== null && allSeen > ad.seen_at ? allSeen : ad.seen_at;
};

/**
 * Returns the time of the first scan that showed the ad on its page; without such a look, the time of the first scan.
 */
export const pageMetAt = ({ looks, page_id, first_seen_at }: AdState): string =>
  looks.find(({ shown }) => (shown?.page_id ?? null) === page_id)?.observed_at ?? first_seen_at;

export const formatOf = (content: AdContent): AdFormat => content.format ?? 'other';

/** Returns the ad in full, as events hold it. */
export const recordOf = (ad: AdState): AdRecord => ({
  ...ad,
  looks: looksForEvent(ad.looks),
  format: formatOf(ad.content),
  ...(isNotShownSince(ad) ? { not_shown_since: true } : {}),
});

/** Returns the ad without its content, as counters need it. */
export const standingOf = (ad: AdState): AdStanding =>
  omit(recordOf(ad), [
    'collector',
    'content',
    'branded_content',
    'looks',
    'requested_countries',
    'brands',
    'placings',
    'moved_at',
  ]);

/** Returns the countries of the ad's pairs (rule 1). */
export const pairCountries = (ad: AdState): readonly string[] => ad.requested_countries ?? ad.countries;
