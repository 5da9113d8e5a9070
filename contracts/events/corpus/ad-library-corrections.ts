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

/** Events of the ad library that correct what earlier events recorded. They are never news. */

/** An ad's state without its content, as counters of read models need it. */
export type AdStanding = AdCounted & {
  readonly page_id: string | null;
  readonly page_name: string | null;
  readonly status: 'active' | 'missing' | 'inactive';
  readonly novelty: Novelty;
  /** Time of the first scan that showed the ad, running or ended. */
  readonly first_seen_at: string;
  /** Time of the last scan that showed the ad running; of the first scan when none did. */
  readonly seen_at: string;
  /**
   * A scan after `seen_at` covered the ad's page and did not show the ad. Until an event shows it again, complete scans of
   * the page do not imply that it was seen.
   */
  readonly not_shown_since?: true;
  /** False when every scan that showed the ad showed it as ended. */
  readonly observed_running: boolean;
  readonly missing_since: string | null;
  readonly inactive_since: string | null;
  readonly basis: 'library' | 'absence' | null;
  /** The stop date that the library gave, if any. */
  readonly stopped_on: string | null;
};

/**
 * One look at an ad by one scan. Only looks that do not follow from the one before are stored: a complete scan that
 * fully covered the ad's page shows the same again.
 */
export type AdLook = {
  readonly scan_id: string;
  readonly observed_at: string;
  readonly kind: 'running' | 'ended' | 'absent';
  readonly shown?: ShownFields;
  /** Fields that an earlier look showed and this one did not. Absent: none; older releases recorded none. */
  readonly blank?: readonly BlankField[];
};

/** An ad in full. */
export type AdRecord = AdStanding & {
  /** Countries that the scans which showed the ad requested; absent when equal to `countries`. */
  readonly requested_countries?: readonly string[];
  readonly collector: string;
  readonly content: AdContent;
  readonly branded_content?: BrandedContent;
  /** In the order of observation. */
  readonly looks: readonly AdLook[];
  /** Ids of all brands that the ad ever belonged to; absent when it has not moved. Older releases record none. */
  readonly brands?: readonly string[];
  /** The brands in the order of time, each since the scan or other cause of the move; absent when it has not moved. */
  readonly placings?: readonly BrandSince[];
  /** Time of the last move. Scans before it imply no look: each one is stored. */
  readonly moved_at?: string;
};

/** The brand of an ad since a scan or another cause, up to the next one of the list. */
export type BrandSince = {
  readonly scan_id: string;
  readonly observed_at: string;
  readonly brand_id: string;
};

/** Something that a scan showed of an ad and that radar, signals and alerts report. */
export type Occurrence = {
  readonly kind: 'started' | 'stopped' | 'destination_changed';
  /** The scan that showed it, and its time. */
  readonly scan_id: string;
  readonly observed_at: string;
  /** The brand to which the ad belonged then. Absent: the brand of the stream. */
  readonly brand_id?: string;
  readonly basis?: 'library' | 'absence';
  readonly stopped_on?: string | null;
  readonly from_url?: string;
  /** The destination since then; `null` for a start without one. Absent for starts that older releases corrected. */
  readonly to_url?: string | null;
};

/**
 * A scan that arrived late changes what later scans had decided about an ad (rule 11). `scan_id` and `observed_at` are
 * those of the late scan. It is a correction, never news.
 */
export type AdObservationCorrected = Event<
  'AdObservationCorrected',
  Sighting & {
    readonly ad_id: string;
    /** The state before; `null` when the late scan is the first that shows the ad. */
    readonly before: AdStanding | null;
    readonly after: AdRecord;
    /** Reported before, and not so in the order of observation. */
    readonly withdrawn: readonly Occurrence[];
    /** Occurrences in the order of observation that were not reported before. */
    readonly added: readonly Occurrence[];
    readonly ads_now?: AdsNow;
  }
>;

/**
 * The brand of an ad changes (rule 10). Both streams record the event, first the stream of `from_brand_id`. The field
 * `brand_id` is the brand of the stream. Never news.
 */
export type AdAttributed = Event<
  'AdAttributed',
  Sighting & {
    readonly ad_id: string;
    readonly from_brand_id: string;
    readonly to_brand_id: string;
    /** The ad as it is after the move. */
    readonly ad: AdRecord;
    /** Order of the ad's move before, if that has the same time. Absent: the time decides which of two moves is later. */
    readonly after?: string;
    readonly ads_now?: AdsNow;
  }
>;

/** A scan that looked at the brand, with its totals as corrected. */
export type LastLook = {
  readonly scan_id: string;
  readonly observed_at: string;
  readonly totals: ScanTotals;
};

/**
 * Corrects a recorded scan of the brand after a late scan, a late link or a change of attribution (rules 9 to 11).
 * `scan_id` and `observed_at` are those of the recorded scan; the values replace those of its `ScanRecorded`. They
 * hold in the order of observation.
 */
export type ScanCorrected = Event<
  'ScanCorrected',
  Sighting & {
    /** The late scan, or the cause of the changed attribution. */
    readonly corrected_by: string;
    readonly reliable: boolean;
    readonly totals: ScanTotals;
    /**
     * The scan did not look at the brand: it was made for another one, showed no ad of this one, and named no page
     * that was linked to it or had a live ad of it. It counts for no day. Absent: the scan looked at the brand.
     */
    readonly no_look?: true;
    /**
     * The newest scan that looked at the brand, if this one did not; `null` if no other did. It decides the totals and
     * times of replies. Older releases do not record it.
     */
    readonly last_look?: LastLook | null;
    /** Differences of the scan's collector that repeat on most ads (rule 6). Absent: as recorded before. */
    readonly differences?: readonly string[];
    readonly ads_now?: AdsNow;
  }
>;
