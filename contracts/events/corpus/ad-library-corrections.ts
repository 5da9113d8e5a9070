import type { BrandedContent } from '#contracts/observations/ad-library-scan.ts';
import type { Event } from '../event.ts';
import type {
  AdContent,
  AdCounted,
  AdsNow,
  BlankField,
  Novelty,
  ScanTotals,
  ShownFields,
  Sighting,
} from './ad-library-values.ts';

export type AdStanding = AdCounted & {
  readonly page_id: string | null;
  readonly page_name: string | null;
  readonly status: 'active' | 'missing' | 'inactive';
  readonly novelty: Novelty;
  /** The first scan that showed the ad, running or ended. */
  readonly first_seen_at: string;
  /** The last scan that showed the ad running; the first scan when none did. */
  readonly seen_at: string;
  /**
   * A later scan covered the page without the ad, so complete scans of the page imply no sighting until an event shows
   * it.
   */
  readonly not_shown_since?: true;
  /** False when every scan that showed the ad showed it as ended. */
  readonly observed_running: boolean;
  readonly missing_since: string | null;
  readonly inactive_since: string | null;
  readonly basis: 'library' | 'absence' | null;
  readonly stopped_on: string | null;
};

/** Stored only if it does not follow from the look before: complete scans of the whole page imply the same again. */
export type AdLook = {
  readonly scan_id: string;
  readonly observed_at: string;
  readonly kind: 'running' | 'ended' | 'absent';
  readonly shown?: ShownFields;
  /** Fields that an earlier look showed and this one did not. Absent: none. */
  readonly blank?: readonly BlankField[];
};

export type AdRecord = AdStanding & {
  /** Requested by the scans that showed the ad; absent when equal to `countries`. */
  readonly requested_countries?: readonly string[];
  readonly collector: string;
  readonly content: AdContent;
  readonly branded_content?: BrandedContent;
  /** In the order of observation. */
  readonly looks: readonly AdLook[];
  /** Every brand that the ad ever belonged to; absent when it has not moved. */
  readonly brands?: readonly string[];
  /** Brands in the order of time, each since the cause of its move; absent when the ad has not moved. */
  readonly placings?: readonly BrandSince[];
  /** Time of the last move. Scans before it imply no look: each one is stored. */
  readonly moved_at?: string;
};

/** The brand holds from a scan or another cause until the next one of the list. */
export type BrandSince = {
  readonly scan_id: string;
  readonly observed_at: string;
  readonly brand_id: string;
};

/** Reported by radar, signals and alerts. */
export type Occurrence = {
  readonly kind: 'started' | 'stopped' | 'destination_changed';
  readonly scan_id: string;
  readonly observed_at: string;
  /** Brand of the ad at that time. Absent: the brand of the stream. */
  readonly brand_id?: string;
  readonly basis?: 'library' | 'absence';
  readonly stopped_on?: string | null;
  readonly from_url?: string;
  /** `null` for a start without a destination. Absent for a stop. */
  readonly to_url?: string | null;
};

/** A late scan, that of `scan_id`, changes later decisions about an ad (rule 11), which is never news. */
export type AdObservationCorrected = Event<
  'AdObservationCorrected',
  Sighting & {
    readonly ad_id: string;
    /** `null` when the late scan is the first that shows the ad. */
    readonly before: AdStanding | null;
    readonly after: AdRecord;
    /** Reported before, and not so in the order of observation. */
    readonly withdrawn: readonly Occurrence[];
    /** Not reported before, but so in the order of observation. */
    readonly added: readonly Occurrence[];
    readonly ads_now?: AdsNow;
  }
>;

/**
 * The brand of an ad changes (rule 10), which is never news. Both streams record it, `from_brand_id` first; `brand_id`
 * is the brand of the stream.
 */
export type AdAttributed = Event<
  'AdAttributed',
  Sighting & {
    readonly ad_id: string;
    readonly from_brand_id: string;
    readonly to_brand_id: string;
    readonly ad: AdRecord;
    /** Order of the move before, if it has the same time. Absent: the time decides. */
    readonly after?: string;
    readonly ads_now?: AdsNow;
  }
>;

/** Totals as corrected, of a scan that looked at the brand. */
export type LastLook = {
  readonly scan_id: string;
  readonly observed_at: string;
  readonly totals: ScanTotals;
};

/**
 * Replaces values of a `ScanRecorded` after a late scan, a late link or a move (rules 9 to 11), in the order of
 * observation. `scan_id` and `observed_at` are those of the recorded scan.
 */
export type ScanCorrected = Event<
  'ScanCorrected',
  Sighting & {
    readonly corrected_by: string;
    readonly reliable: boolean;
    readonly totals: ScanTotals;
    /** The scan, made for another brand, showed nothing of this one, and counts for no day. Absent: a look. */
    readonly no_look?: true;
    /** Newest look, with `no_look`; `null` if no other scan looked. Decides totals and times of replies. */
    readonly last_look?: LastLook | null;
    /** Differences that repeat on most ads of the collector (rule 6). Absent: as recorded before. */
    readonly differences?: readonly string[];
    readonly ads_now?: AdsNow;
  }
>;
