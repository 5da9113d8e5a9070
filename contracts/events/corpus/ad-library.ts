import type { BrandedContent } from '#contracts/observations/ad-library-scan.ts';
import type { AdFormat } from '#contracts/values/primitives.ts';
import type { Event } from '../event.ts';

/** Stream `adLibrary-<brandId>`: what the library showed of a brand's ads. Dates of observation are in the data. */
export const AD_LIBRARY = 'adLibrary';
export const adLibraryStream = (brandId: string): string => `${AD_LIBRARY}-${brandId}`;

/** Why an ad's first sighting is, or is not, news (DESIGN §5, rule 3). */
export type Novelty = 'baseline' | 'news' | 'late';

export type AdCardContent = {
  readonly body: string | null;
  readonly title: string | null;
  readonly link_description: string | null;
  readonly cta_text: string | null;
  readonly link_url: string | null;
};

/** Everything observed of an ad's content. `null`: never observed. */
export type AdContent = {
  readonly body: string | null;
  readonly title: string | null;
  readonly link_description: string | null;
  readonly caption: string | null;
  readonly cta_type: string | null;
  readonly cta_text: string | null;
  readonly link_url: string | null;
  readonly format: AdFormat | null;
  readonly platforms: readonly string[] | null;
  readonly languages: readonly string[] | null;
  readonly media: readonly {
    readonly kind: 'image' | 'video';
    readonly url: string | null;
    readonly poster_url: string | null;
  }[];
  readonly cards: readonly AdCardContent[];
  readonly versions: readonly AdCardContent[];
};

/** In every event about one ad: which scan says so, and when that scan looked. */
type Sighting = { readonly brand_id: string; readonly scan_id: string; readonly observed_at: string };

/**
 * What counters need of an ad in order to move with its status, so that no projection has to look an
 * ad up: they hold what the events before said.
 */
export type AdCounted = {
  readonly ad_id: string;
  readonly format: AdFormat;
  readonly countries: readonly string[];
  readonly started_on: string | null;
};

/** What a reader of the event wants to see of the ad without looking it up. */
export type AdExcerpt = {
  readonly page_id: string | null;
  readonly page_name: string | null;
  readonly title: string | null;
  /** The first `EXCERPT_CHARACTERS` characters. */
  readonly body: string | null;
};
export const EXCERPT_CHARACTERS = 300;
/** Cuts between characters, never inside one. Counts them in place: an array of them costs more than a radar row. */
export const excerptOfBody = (body: string | null): string | null => {
  if (body === null) return null;
  let end = 0;
  for (let characters = 0; characters < EXCERPT_CHARACTERS && end < body.length; characters += 1) {
    end += (body.codePointAt(end) ?? 0) > LAST_OF_ONE_UNIT ? 2 : 1;
  }
  return body.slice(0, end);
};
/** Characters beyond it take two code units of a string. */
const LAST_OF_ONE_UNIT = 0xffff;

export type AdStarted = Event<
  'AdStarted',
  Sighting &
    AdCounted & {
      readonly page_id: string | null;
      readonly page_name: string | null;
      readonly novelty: Novelty;
      /** Observed by a scan older than the page's last, which did not show the ad: missing since then. */
      readonly missing_since: string | null;
      readonly collector: string;
      readonly content: AdContent;
      /** The partner that the ad names. Absent: none was seen. */
      readonly branded_content?: BrandedContent;
    }
>;

/** A field of the content that changed; `from` is `null` where nothing had been observed before. */
export type ContentChanges = {
  readonly [Field in keyof AdContent]?: { readonly from: AdContent[Field]; readonly to: AdContent[Field] };
};

/** Copy, call to action, media or format changed. */
export type AdRevised = Event<
  'AdRevised',
  Sighting & AdCounted & { readonly excerpt: AdExcerpt; readonly changes: ContentChanges }
>;

/** Fields that were blank until now became known: completes the record and is no news. */
export type AdDetailsObserved = Event<
  'AdDetailsObserved',
  Sighting &
    AdCounted & {
      readonly details: Partial<AdContent>;
      readonly page_id: string | null;
      readonly page_name: string | null;
      /** The format that counters held until now; `details.format` may name another. */
      readonly was_format: AdFormat;
      /** Countries whose scans show the ad now and did not before; part of `countries`. */
      readonly added_countries: readonly string[];
      /** A partner that had not been seen on the ad, or is another than before. */
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
      /** `library`: it says so. `absence`: absent from complete covering scans at least 20 h apart. */
      readonly basis: 'library' | 'absence';
      /** The library's stop date, where it gave one. */
      readonly stopped_on: string | null;
      readonly last_seen_at: string;
      /** False when the ad was never observed running: counted, shown in no radar. */
      readonly news: boolean;
    }
>;

/** An ad that had been confirmed inactive was observed running again. */
export type AdReturned = Event<
  'AdReturned',
  Sighting & AdCounted & { readonly excerpt: AdExcerpt; readonly inactive_since: string }
>;

/** Ads absent from a complete covering scan for the first time: missing, not stopped. At most 5,000 an event. */
export type AdsMissed = Event<'AdsMissed', Sighting & { readonly ad_ids: readonly string[] }>;

/**
 * Ads observed where the scan's end alone does not imply it: missing ads that are back, and every known
 * ad of an incomplete scan. At most 5,000 an event.
 */
export type AdsSeen = Event<'AdsSeen', Sighting & { readonly ad_ids: readonly string[] }>;

/** Parts of an ad that collectors word in their own ways. */
export type Aspect = 'copy' | 'cta' | 'format' | 'destination';

/**
 * A new collector words most of a scan's ads differently in one aspect: the collector's doing, not the
 * brand's (rule 6). Holds the new wording, so that the next scan is compared with it.
 */
export type AdsReworded = Event<
  'AdsReworded',
  Sighting & {
    readonly collector: string;
    readonly aspects: readonly Aspect[];
    readonly ads: readonly {
      readonly ad_id: string;
      readonly format: AdFormat;
      readonly was_format: AdFormat;
      readonly countries: readonly string[];
      readonly wording: Partial<AdContent>;
    }[];
  }
>;

/** Counts of one scan. `active` counts missing ads too: not seen is not stopped. */
export type ScanTotals = {
  readonly seen: number;
  readonly active: number;
  readonly missing: number;
  readonly total: number;
  readonly baseline: number;
  readonly news: number;
  readonly late: number;
  readonly stopped: number;
  readonly returned: number;
  readonly revised: number;
  readonly destination_changed: number;
  readonly reworded: number;
};

/**
 * Closes a scan. Complete: every live, not missing ad of the covered pages that are not partial was seen at
 * `observed_at`.
 */
export type ScanRecorded = Event<
  'ScanRecorded',
  Sighting & {
    /** The brand the scan was made for; another's where this brand's ads were met on its pages. */
    readonly scanned_for: string;
    readonly collector: string;
    readonly complete: boolean;
    readonly countries: readonly string[];
    /** `""` stands for ads shown without a page. */
    readonly pages: readonly {
      readonly page_id: string;
      readonly page_name: string | null;
      readonly baseline: boolean;
      /** Ads of the page are known from other countries than the scan asked for: it tells nothing of those. */
      readonly partial?: true;
    }[];
    /** Complete scans of this day covered all pages linked to the brand (rule 9). */
    readonly reliable: boolean;
    /** Older than the last scan recorded: history of its day, nothing more (rule 11). */
    readonly late_arrival: boolean;
    readonly totals: ScanTotals;
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
  | AdsReworded
  | ScanRecorded;
