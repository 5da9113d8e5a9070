import type { BrandedContent } from '#contracts/observations/ad-library-scan.ts';
import type { AdFormat } from '#contracts/values/primitives.ts';

/** Rule 3 of services/domain/README.md: part of a page's first scan, news, or found too late to be news. */
export type Novelty = 'baseline' | 'news' | 'late';

export type AdCardContent = {
  readonly body: string | null;
  readonly title: string | null;
  readonly link_description: string | null;
  readonly cta_text: string | null;
  readonly link_url: string | null;
};

/** `null`: never observed. */
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

export type Sighting = { readonly brand_id: string; readonly scan_id: string; readonly observed_at: string };

/** Values from before the event, so that counters need not look up the ad. */
export type AdCounted = {
  readonly ad_id: string;
  readonly format: AdFormat;
  readonly countries: readonly string[];
  readonly started_on: string | null;
};

/** `active` includes missing ads: not seen is not stopped. */
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

/** Absent: not shown by the scan. */
export type ShownFields = Partial<AdContent> & {
  readonly page_id?: string | null;
  readonly page_name?: string | null;
  readonly started_on?: string | null;
  readonly stopped_on?: string | null;
  readonly countries?: readonly string[];
  readonly branded_content?: BrandedContent;
};

/** The last shown value counts (rule 4), so looks state which of these they left blank. */
export type BlankField = Exclude<keyof ShownFields, 'page_id' | 'page_name' | 'stopped_on' | 'countries'>;

/** Ads of the brand after an event out of order: not inactive, and all. A scan's totals hold for its own time. */
export type AdsNow = { readonly active: number; readonly total: number };
