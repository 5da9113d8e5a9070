import type { BrandedContent } from '#contracts/observations/ad-library-scan.ts';
import type { AdFormat } from '#contracts/values/primitives.ts';
import type { Event } from '../event.ts';
import type { AdAttributed, AdObservationCorrected, ScanCorrected } from './ad-library-corrections.ts';
import type {
  AdCardContent,
  AdContent,
  AdCounted,
  AdsNow,
  BlankField,
  Novelty,
  ScanTotals,
  Sighting,
} from './ad-library-values.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `adLibrary-<brandId>`: ads as the library showed them. */
export const AD_LIBRARY = 'adLibrary';
export const adLibraryStream = (brandId: string): string => `${AD_LIBRARY}-${brandId}`;

export type AdExcerpt = {
  readonly page_id: string | null;
  readonly page_name: string | null;
  readonly title: string | null;
  readonly body: string | null;
};
export const EXCERPT_CHARACTERS = 300;
/** Never splits a surrogate pair. Counts in place: an array of characters costs more than writing a radar row. */
export const excerptOfBody = (body: string | null): string | null => {
  if (body === null) return null;
  let end = 0;
  for (let characters = 0; characters < EXCERPT_CHARACTERS && end < body.length; characters += 1) {
    end += (body.codePointAt(end) ?? 0) > LAST_OF_ONE_UNIT ? 2 : 1;
  }
  return body.slice(0, end);
};
const LAST_OF_ONE_UNIT = 0xffff;

export type AdStarted = Event<
  'AdStarted',
  Sighting &
    AdCounted & {
      readonly page_id: string | null;
      readonly page_name: string | null;
      readonly novelty: Novelty;
      /** Set when the scan is older than the page's last complete scan, which did not show the ad; else `null`. */
      readonly missing_since: string | null;
      /** The ad counts from this time, because its scan is history only. Absent: from the time of the scan. */
      readonly counted_since?: string;
      readonly collector: string;
      /** Absent when the ad is said to run in exactly these countries. */
      readonly requested_countries?: readonly string[];
      readonly content: AdContent;
      /** Absent when no partner was seen. */
      readonly branded_content?: BrandedContent;
    }
>;

/** `from` is `null` when the field had not been observed before. */
export type ContentChanges = {
  readonly [Field in keyof AdContent]?: { readonly from: AdContent[Field]; readonly to: AdContent[Field] };
};

export type AdRevised = Event<
  'AdRevised',
  Sighting & AdCounted & { readonly excerpt: AdExcerpt; readonly changes: ContentChanges }
>;

/** Fields that were unknown until now; not news. */
export type AdDetailsObserved = Event<
  'AdDetailsObserved',
  Sighting &
    AdCounted & {
      readonly details: Partial<AdContent>;
      readonly page_id: string | null;
      readonly page_name: string | null;
      /** Format of the counters until now; `details.format` may name another one. */
      readonly was_format: AdFormat;
      readonly added_countries: readonly string[];
      /** Countries requested by scans that showed the ad, when these are not exactly `countries`. */
      readonly requested_countries?: readonly string[];
      /** A new partner, or another one than before. */
      readonly branded_content?: BrandedContent;
    }
>;

export type AdDestinationChanged = Event<
  'AdDestinationChanged',
  Sighting & AdCounted & { readonly excerpt: AdExcerpt; readonly from_url: string; readonly to_url: string }
>;

export type AdConfirmedInactive = Event<
  'AdConfirmedInactive',
  Sighting &
    AdCounted & {
      readonly excerpt: AdExcerpt;
      /** `absence`: absent from complete covering scans at least 20 h apart. */
      readonly basis: 'library' | 'absence';
      readonly stopped_on: string | null;
      readonly last_seen_at: string;
      /** False when no scan showed the ad running. */
      readonly observed_running: boolean;
      /** False when the ad was never observed running: it is counted, but not shown in any radar. */
      readonly news: boolean;
    }
>;

/** An ad that had been confirmed inactive runs again. */
export type AdReturned = Event<
  'AdReturned',
  Sighting & AdCounted & { readonly excerpt: AdExcerpt; readonly inactive_since: string }
>;

/** First absence from a complete covering scan: missing, not stopped. At most 5,000 per event. */
export type AdsMissed = Event<'AdsMissed', Sighting & { readonly ad_ids: readonly string[] }>;

/** A late scan reads these to decide what its own fields changed. */
export type LeftBlank = {
  /** Shown earlier, blank in this scan. Absent: blank as before, without the fields that this scan changed. */
  readonly blank?: readonly BlankField[];
  /**
   * Cards as shown, where they differ in blanks or in texts that the comparison ignores; the recorded content has the
   * blanks filled. Absent: none.
   */
  readonly cards?: readonly { readonly ad_id: string; readonly cards: readonly AdCardContent[] }[];
};

/**
 * Sightings that a scan's end does not imply: missing ads that are back, ads of an incomplete scan, ads with other
 * blanks. At most 5,000 per event.
 */
export type AdsSeen = Event<'AdsSeen', Sighting & LeftBlank & { readonly ad_ids: readonly string[] }>;

/** Inactive ads that a scan showed as ended or not at all, for decisions on late scans. At most 5,000 per event. */
export type AdsStillInactive = Event<
  'AdsStillInactive',
  Sighting &
    LeftBlank & {
      readonly kind: 'ended' | 'absent';
      readonly ad_ids: readonly string[];
      /** Absent: the stop date of the look before, if that was `ended`. */
      readonly stopped_on?: string | null;
    }
>;

/** Collectors express these parts differently. */
export type Aspect = 'copy' | 'cta' | 'format' | 'destination';

/** A new collector, not the brand, words most ads otherwise in one aspect (rule 6). The new wording holds next. */
export type AdsReworded = Event<
  'AdsReworded',
  Sighting & {
    readonly collector: string;
    readonly aspects: readonly Aspect[];
    /** Differences that repeat on most ads of the scan. */
    readonly differences: readonly string[];
    readonly ads: readonly {
      readonly ad_id: string;
      readonly format: AdFormat;
      readonly was_format: AdFormat;
      readonly countries: readonly string[];
      readonly wording: Partial<AdContent>;
    }[];
  }
>;

/** A complete scan saw every active, not missing ad of its pages at `observed_at`, except on `partial` pages. */
export type ScanRecorded = Event<
  'ScanRecorded',
  Sighting & {
    /** Differs from `brand_id` when ads of this brand were found on the other brand's pages. */
    readonly scanned_for: string;
    readonly collector: string;
    readonly complete: boolean;
    readonly countries: readonly string[];
    /** `""` stands for ads shown without a page. */
    readonly pages: readonly {
      readonly page_id: string;
      readonly page_name: string | null;
      readonly baseline: boolean;
      /** Another scan has this time, or the page has ads of other countries: ads that were not shown may still run. */
      readonly partial?: true;
    }[];
    /** Complete scans of this day covered all pages linked to the brand (rule 9). */
    readonly reliable: boolean;
    /** True if older than the last recorded scan: it adds history for its day only (rule 11). */
    readonly late_arrival: boolean;
    /** Differences that repeat on most ads of the collector (rule 6). Absent: none. */
    readonly differences?: readonly string[];
    /** Totals hold in the order of observation. Absent for a scan that was too late to be decided (rule 11). */
    readonly chronological?: true;
    readonly totals: ScanTotals;
    readonly ads_now?: AdsNow;
    /** Late scan, link or registration that made the scan a look at the brand. Absent: the scan itself. */
    readonly recorded_by?: string;
  }
>;

export type AdLibraryEvent =
  | AdStarted
  | AdRevised
  | AdDetailsObserved
  | AdDestinationChanged
  | AdConfirmedInactive
  | AdReturned
  | AdsMissed
  | AdsSeen
  | AdsStillInactive
  | AdsReworded
  | ScanRecorded
  | AdObservationCorrected
  | AdAttributed
  | ScanCorrected;

export const adLibraryVersions: EventVersions<AdLibraryEvent> = {
  AdStarted: [],
  AdRevised: [],
  AdDetailsObserved: [],
  AdDestinationChanged: [],
  AdConfirmedInactive: [],
  AdReturned: [],
  AdsMissed: [],
  AdsSeen: [],
  AdsStillInactive: [],
  AdsReworded: [],
  ScanRecorded: [],
  AdObservationCorrected: [],
  AdAttributed: [],
  ScanCorrected: [],
};
