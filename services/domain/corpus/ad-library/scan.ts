import {
  type AdContent,
  type AdCounted,
  type AdExcerpt,
  excerptOfBody,
} from '#contracts/events/corpus/ad-library.ts';
import { formatOf, type AdState } from './state.ts';

/** Data of a library scan apart from its ads, and the fields that its events have in common. */
export type ScanHeader = {
  readonly scan_id: string;
  readonly brand_id: string;
  readonly scanned_for: string;
  readonly scanned_at: string;
  readonly complete: boolean;
  readonly countries: readonly string[];
  readonly collector: string;
  readonly pages: readonly { readonly page_id: string; readonly page_name: string | null }[];
  /** Ids of pages that this scan covers in part only: some of their live ads also ran in countries outside the scan. */
  readonly partialPages: ReadonlySet<string>;
};

/** Scans of a page for any brand. Baseline and completeness belong to the page, not to one brand. */
export type PageHistory = {
  readonly first_scan_at: string;
  readonly last_scan_at: string;
  readonly last_complete_at: string | null;
};
export type PageHistories = ReadonlyMap<string, PageHistory>;

/** Returns the fields that every event of a scan has: brand, scan and time of the scan. */
export const sightingOf = (scan: ScanHeader) => ({
  brand_id: scan.brand_id,
  scan_id: scan.scan_id,
  observed_at: scan.scanned_at,
});

export const countedOf = (ad: AdState): AdCounted => ({
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
