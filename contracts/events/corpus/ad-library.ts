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

/**
 * Stream `adLibrary-<brandId>`: ads of a brand as the library showed them. Observation times are in the event data.
 */
export const AD_LIBRARY = 'adLibrary';
export const adLibraryStream = (brandId: string): string => `${AD_LIBRARY}-${brandId}`;

/** Excerpt of an ad, so that readers of the event need not look up the ad. */
export type AdExcerpt = {
  readonly page_id: string | null;
  readonly page_name: string | null;
  readonly title: string | null;
  /** The first `EXCERPT_CHARACTERS` characters. */
  readonly body: string | null;
};
export const EXCERPT_CHARACTERS = 300;
/**
 * Returns the first `EXCERPT_CHARACTERS` characters; never splits a surrogate pair. Counts in place, because an
 * array of characters would cost more than writing a radar row.
 */
export const excerptOfBody = (body: string | null): string | null => {
  if (body === null) return null;
  let end = 0;
  for (let characters = 0; characters < EXCERPT_CHARACTERS && end < body.length; characters += 1) {
    end += (body.codePointAt(end) ?? 0) > LAST_OF_ONE_UNIT ? 2 : 1;
  }
  return body.slice(0, end);
};
/** Characters above this code point take two code units of a string. */
const LAST_OF_ONE_UNIT = 0xffff;

export type AdStarted = Event<
  'AdStarted',
  Sighting &
    AdCounted & {
      readonly page_id: string | null;
      readonly page_name: string | null;
      readonly novelty: Novelty;
      /**
       * Time since when the ad is missing, or `null`. Set when the scan is older than the page's last complete
       * scan, which did not show the ad.
       */
      readonly missing_since: string | null;
      /** The ad counts from this time on, because its scan is history only. Absent: from the time of the scan. */
      readonly counted_since?: string;
      readonly collector: string;
      /** Countries that the scan requested, when the ad is not said to run in exactly these. */
      readonly requested_countries?: readonly string[];
      readonly content: AdContent;
      /** The partner that the ad names. Absent when none was seen. */
      readonly branded_content?: BrandedContent;
    }
>;

/** Changed content fields. `from` is `null` when the field had not been observed before. */
export type ContentChanges = {
  readonly [Field in keyof AdContent]?: { readonly from: AdContent[Field]; readonly to: AdContent[Field] };
};

/** Copy, call to action, media or format changed. */
export type AdRevised = Event<
  'AdRevised',
  Sighting & AdCounted & { readonly excerpt: AdExcerpt; readonly changes: ContentChanges }
>;

/** Fields that were unknown until now were observed. This completes the record and is not news. */
export type AdDetailsObserved = Event<
  'AdDetailsObserved',
  Sighting &
    AdCounted & {
      readonly details: Partial<AdContent>;
      readonly page_id: string | null;
      readonly page_name: string | null;
      /** The format that counters used until now. `details.format` may name another one. */
      readonly was_format: AdFormat;
      /** Countries whose scans show the ad now and did not before. A subset of `countries`. */
      readonly added_countries: readonly string[];
      /** All countries requested by scans that showed the ad, when these are not exactly `countries`. */
      readonly requested_countries?: readonly string[];
      /** A newly observed partner, or one that differs from the partner before. */
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
      /** `library`: the library says so. `absence`: absent from complete covering scans at least 20 h apart. */
      readonly basis: 'library' | 'absence';
      /** The stop date that the library gave, if any. */
      readonly stopped_on: string | null;
      readonly last_seen_at: string;
      /** False when every scan that showed the ad showed it as ended. Absent in older releases; see `wasRunning`. */
      readonly observed_running?: boolean;
      /** False when the ad was never observed running: it is counted, but not shown in any radar. */
      readonly news: boolean;
    }
>;

/**
 * True when a scan showed the stopped ad running. In events of older releases, `last_seen_at` of an ad that was ended
 * in its first scan is the time of this scan.
 */
export const wasRunning = ({
  basis,
  last_seen_at,
  observed_at,
  observed_running,
}: AdConfirmedInactive['data']): boolean =>
  observed_running ?? (basis === 'absence' || last_seen_at !== observed_at);

/** An ad that had been confirmed inactive was observed running again. */
export type AdReturned = Event<
  'AdReturned',
  Sighting & AdCounted & { readonly excerpt: AdExcerpt; readonly inactive_since: string }
>;

/** Ads absent from a complete covering scan for the first time: missing, not stopped. At most 5,000 per event. */
export type AdsMissed = Event<'AdsMissed', Sighting & { readonly ad_ids: readonly string[] }>;

/** The blanks of the scan, per ad. A late scan reads them to decide what its own fields changed. */
export type LeftBlank = {
  /**
   * Fields of these ads that an earlier scan showed and this one left blank. Absent: the blank fields of the scan
   * before, without the fields that this scan changed.
   */
  readonly blank?: readonly BlankField[];
  /**
   * Cards as the scan showed them, of ads whose cards differ from those of the look before in blanks, or in texts that the
   * comparison ignores. The recorded content has the blanks filled. Older releases do not record them.
   */
  readonly cards?: readonly { readonly ad_id: string; readonly cards: readonly AdCardContent[] }[];
};

/**
 * Sightings that the end of the scan alone does not imply: missing ads that are back, existing ads of an incomplete
 * scan, and ads with other blank fields than in the scan before. At most 5,000 per event.
 */
export type AdsSeen = Event<'AdsSeen', Sighting & LeftBlank & { readonly ad_ids: readonly string[] }>;

/**
 * Inactive ads that a scan showed as ended, or did not show any more. Changes nothing now; the decision on a late
 * scan reads it. At most 5,000 per event.
 */
export type AdsStillInactive = Event<
  'AdsStillInactive',
  Sighting &
    LeftBlank & {
      readonly kind: 'ended' | 'absent';
      readonly ad_ids: readonly string[];
      /** Stop date that the scan showed of these ads. Absent: the one that the look before showed, if that was `ended`. */
      readonly stopped_on?: string | null;
    }
>;

/** Parts of an ad that collectors express differently. */
export type Aspect = 'copy' | 'cta' | 'format' | 'destination';

/**
 * A new collector words most of a scan's ads differently in one aspect. The collector caused the difference, not
 * the brand (rule 6). The event holds the new wording, so that the next scan is compared with it.
 */
export type AdsReworded = Event<
  'AdsReworded',
  Sighting & {
    readonly collector: string;
    readonly aspects: readonly Aspect[];
    /** The differences that repeat on most ads of the scan. Absent in events of older releases. */
    readonly differences?: readonly string[];
    readonly ads: readonly {
      readonly ad_id: string;
      readonly format: AdFormat;
      readonly was_format: AdFormat;
      readonly countries: readonly string[];
      readonly wording: Partial<AdContent>;
    }[];
  }
>;

/**
 * Closes a scan. If it is complete, every active, not missing ad of the covered pages was seen at `observed_at`.
 * Pages marked `partial` are excepted.
 */
export type ScanRecorded = Event<
  'ScanRecorded',
  Sighting & {
    /**
     * The brand that was scanned. It differs from `brand_id` when ads of this brand were found on the other brand's
     * pages.
     */
    readonly scanned_for: string;
    readonly collector: string;
    readonly complete: boolean;
    readonly countries: readonly string[];
    /** `""` stands for ads shown without a page. */
    readonly pages: readonly {
      readonly page_id: string;
      readonly page_name: string | null;
      readonly baseline: boolean;
      /**
       * The page has ads known from countries that the scan did not request, or another scan of the same time is recorded. The
       * scan says nothing about the ads that it did not show.
       */
      readonly partial?: true;
    }[];
    /** Complete scans of this day covered all pages linked to the brand (rule 9). */
    readonly reliable: boolean;
    /**
     * The scan is older than the last recorded scan. It adds history for its day and changes nothing else (rule
     * 11).
     */
    readonly late_arrival: boolean;
    /**
     * Differences of the scan's collector that repeat on most ads (rule 6). Absent: none; in older releases, those of the
     * scan's `AdsReworded`.
     */
    readonly differences?: readonly string[];
    /** The totals hold in the order of observation, also in a scan that arrived late. Absent in older releases. */
    readonly chronological?: true;
    readonly totals: ScanTotals;
    readonly ads_now?: AdsNow;
    /**
     * The late observation that made the scan a look at the brand: a scan, a link or a registration. Absent: the scan itself, and
     * in older releases.
     */
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

/** Schema versions: each type's upcasters, from version 1 on. */
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
