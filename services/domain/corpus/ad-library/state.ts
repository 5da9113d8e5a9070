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

/** Shared by ads without a page. Scans never cover this page. */
export const NO_PAGE = '';

export type AdStatus = 'active' | 'missing' | 'inactive';

export type AdState = {
  readonly ad_id: string;
  readonly page_id: string | null;
  readonly page_name: string | null;
  readonly status: AdStatus;
  readonly novelty: Novelty;
  /** Time of the last sighting with its own event. Later scans may imply sightings; see `lastSeenAt`. */
  readonly seen_at: string;
  readonly missing_since: string | null;
  readonly inactive_since: string | null;
  readonly observed_running: boolean;
  readonly started_on: string | null;
  readonly countries: readonly string[];
  /** Countries of the scans that showed the ad; its pairs (rule 1). Absent when equal to `countries`. */
  readonly requested_countries?: readonly string[];
  readonly first_seen_at: string;
  readonly basis: 'library' | 'absence' | null;
  readonly stopped_on: string | null;
  /** Only looks that do not follow from the one before (`timeline.ts`), in the order of observation. */
  readonly looks: readonly AdLook[];
  /** Every brand of the ad; absent when it has not moved. */
  readonly brands?: readonly string[];
  /** In the order of time; absent when the ad has not moved. */
  readonly placings?: readonly BrandSince[];
  /** Last move. Scans before it imply no look. */
  readonly moved_at?: string;
  /** First scan that showed the ad, or last one that reworded it. */
  readonly collector: string;
  readonly content: AdContent;
  /** Absent when none was seen. */
  readonly branded_content?: BrandedContent;
};

/** As recorded in this brand's stream. */
export type ScannedPage = {
  readonly page_id: string;
  readonly first_scan_at: string;
  readonly last_scan_at: string;
  readonly last_complete_at: string | null;
  /** Scans of one time, each of other countries, all use it as the scan before them. */
  readonly complete_before: string | null;
  /** Last complete scan that showed every active ad of the page. */
  readonly all_seen_at: string | null;
};

export type ScanCounts = Omit<ScanTotals, 'seen' | 'active' | 'missing' | 'total'>;

export type LibraryState = {
  readonly ads: Map<string, AdState>;
  readonly pages: Map<string, ScannedPage>;
  readonly recordedScans: Set<string>;
  live: number;
  missing: number;
  total: number;
  /** A scan recorded in part: its counts, and its collector's differences (rule 6). */
  open: {
    readonly scan_id: string;
    readonly counts: ScanCounts;
    readonly differences: readonly string[];
  } | null;
};

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

/** The last scan that covered the page did not show the ad, although it is not missing. */
export const isNotShownSince = ({ status, looks }: AdState): boolean =>
  status === 'active' && looks.at(-1)?.kind === 'absent';

/** Complete scans that showed every active ad of a page imply its sighting without an event. */
export const lastSeenAt = (ad: AdState, page: ScannedPage | undefined): string => {
  const isImplied = ad.status === 'active' && ad.page_id !== null && !isNotShownSince(ad);
  const allSeen = page && isImplied ? page.all_seen_at : null;
  return allSeen !== null && allSeen > ad.seen_at ? allSeen : ad.seen_at;
};

export const pageMetAt = ({ looks, page_id, first_seen_at }: AdState): string =>
  looks.find(({ shown }) => (shown?.page_id ?? null) === page_id)?.observed_at ?? first_seen_at;

export const formatOf = (content: AdContent): AdFormat => content.format ?? 'other';

export const recordOf = (ad: AdState): AdRecord => ({
  ...ad,
  looks: looksForEvent(ad.looks),
  format: formatOf(ad.content),
  ...(isNotShownSince(ad) ? { not_shown_since: true } : {}),
});

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

export const pairCountries = (ad: AdState): readonly string[] => ad.requested_countries ?? ad.countries;
