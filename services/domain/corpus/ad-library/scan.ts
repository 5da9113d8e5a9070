import {
  type AdContent,
  type AdCounted,
  type AdExcerpt,
  excerptOfBody,
} from '#contracts/events/corpus/ad-library.ts';
import { formatOf, type KnownAd } from './state.ts';

export type ScanHeader = {
  readonly scan_id: string;
  readonly brand_id: string;
  readonly scanned_for: string;
  readonly scanned_at: string;
  readonly complete: boolean;
  readonly countries: readonly string[];
  readonly collector: string;
  readonly pages: readonly { readonly page_id: string; readonly page_name: string | null }[];
  /** Of the pages, those with live ads of the brand that are known from other countries too. */
  readonly partialPages: ReadonlySet<string>;
};

/** What other brands' scans tell of a page: its baseline and completeness are the page's, not a brand's. */
export type PageHistory = {
  readonly first_scan_at: string;
  readonly last_scan_at: string;
  readonly last_complete_at: string | null;
};
export type PageHistories = ReadonlyMap<string, PageHistory>;

/** In every event of a scan: which brand's, which scan's, and when it looked. */
export const sightingOf = (scan: ScanHeader) => ({
  brand_id: scan.brand_id,
  scan_id: scan.scan_id,
  observed_at: scan.scanned_at,
});

export const countedOf = (ad: KnownAd): AdCounted => ({
  ad_id: ad.ad_id,
  format: formatOf(ad.content),
  countries: ad.countries,
  started_on: ad.started_on,
});

export const excerptOf = (pageId: string | null, pageName: string | null, content: AdContent): AdExcerpt => ({
  page_id: pageId,
  page_name: pageName,
  title: content.title,
  body: excerptOfBody(content.body),
});
