import type { BrandedContent } from '#contracts/observations/ad-library-scan.ts';
import type { AdFormat } from '#contracts/values/primitives.ts';

/** Values that several events of an ad library hold. */

/**
 * Classification of an ad's first sighting (rule 3 of services/domain/README.md): part of a page's first scan, news, or
 * found too late to be news.
 */
export type Novelty = 'baseline' | 'news' | 'late';

export type AdCardContent = {
  readonly body: string | null;
  readonly title: string | null;
  readonly link_description: string | null;
  readonly cta_text: string | null;
  readonly link_url: string | null;
};

/** All observed content of an ad. `null`: never observed. */
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

/** Fields of every event about one ad: brand, scan, and the time of the scan. */
export type Sighting = { readonly brand_id: string; readonly scan_id: string; readonly observed_at: string };

/**
 * Fields of an ad that counters need when its status changes. They hold the values from before the event, so that
 * no projection has to look up the ad.
 */
export type AdCounted = {
  readonly ad_id: string;
  readonly format: AdFormat;
  readonly countries: readonly string[];
  readonly started_on: string | null;
};

/** Counts of one scan. `active` includes missing ads: not seen is not stopped. */
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

/** Fields of an ad that a scan showed. Absent: not shown. */
export type ShownFields = Partial<AdContent> & {
  readonly page_id?: string | null;
  readonly page_name?: string | null;
  readonly started_on?: string | null;
  readonly stopped_on?: string | null;
  /** Countries that the ad itself named. */
  readonly countries?: readonly string[];
  readonly branded_content?: BrandedContent;
};

/** A field of which the last shown value counts (rule 4). Looks state which of these fields they left blank. */
export type BlankField = Exclude<keyof ShownFields, 'page_id' | 'page_name' | 'stopped_on' | 'countries'>;

/**
 * Numbers of the brand's ads after the event: those that are not inactive, and all. Events that arrive out of order state
 * them, because the totals of a scan hold for the time of that scan. Older releases do not record them.
 */
export type AdsNow = { readonly active: number; readonly total: number };
