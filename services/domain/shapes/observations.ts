import { createHash } from 'node:crypto';
import { OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import {
  type AdLibraryScanChunk,
  type AdLibraryScanEnd,
  CHUNK_ADS_MAX,
  type ObservedAd,
} from '#contracts/observations/ad-library-scan.ts';
import {
  type ObservedProduct,
  STOREFRONT_PAGE_PRODUCTS_MAX,
  type StorefrontScanEnd,
  type StorefrontScanPage,
} from '#contracts/observations/storefront-scan.ts';
import { scanIdOf } from '../ids.ts';

const FRAME_BYTES = 1_000;

export const observationParts = <Item>(items: readonly Item[], maxItems: number): readonly Item[][] => {
  const parts: Item[][] = [];
  let part: Item[] = [];
  let bytes = FRAME_BYTES;
  for (const item of items) {
    const size = new TextEncoder().encode(JSON.stringify(item)).length + 1;
    const full = part.length >= maxItems || bytes + size > OBSERVATION_MAX_BYTES;
    if (part.length > 0 && full) {
      parts.push(part);
      part = [];
      bytes = FRAME_BYTES;
    }
    part.push(item);
    bytes += size;
  }
  if (part.length > 0) parts.push(part);
  return parts;
};

export type LibraryScanScope = Pick<AdLibraryScanEnd, 'brand_domain' | 'scanned_at' | 'coverage'>;

const byAdId = (a: ObservedAd, b: ObservedAd): number => (a.ad_id < b.ad_id ? -1 : a.ad_id > b.ad_id ? 1 : 0);

/** Ads are sorted and the scan id depends on all, so the same ads and time give the same observations. */
export const libraryObservations = (
  ads: readonly ObservedAd[],
  { brand_domain, scanned_at, coverage }: LibraryScanScope,
): readonly (AdLibraryScanChunk | AdLibraryScanEnd)[] => {
  const sorted = ads.toSorted(byAdId);
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([coverage, sorted]))
    .digest('hex');
  const key = { scan_id: scanIdOf(brand_domain, scanned_at, fingerprint), brand_domain, scanned_at };
  const chunks = observationParts(sorted, CHUNK_ADS_MAX).map((part, chunk) => ({
    type: 'ad_library.scan' as const,
    ...key,
    chunk,
    ads: part,
  }));
  return [...chunks, { type: 'ad_library.scan_end' as const, ...key, chunks: chunks.length, coverage }];
};

export type StorefrontScanScope = Pick<
  StorefrontScanEnd,
  'domain' | 'scanned_at' | 'complete' | 'currency' | 'collector'
>;

/** The scan id depends on all products, so the same products and time give the same observations. */
export const storefrontObservations = (
  products: readonly ObservedProduct[],
  { domain, scanned_at, complete, currency, collector }: StorefrontScanScope,
): readonly (StorefrontScanPage | StorefrontScanEnd)[] => {
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([complete, products]))
    .digest('hex');
  const key = { scan_id: scanIdOf(domain, scanned_at, fingerprint), domain, scanned_at };
  const pages = observationParts(products, STOREFRONT_PAGE_PRODUCTS_MAX).map((page, index) => ({
    type: 'storefront.scan' as const,
    ...key,
    page: index,
    products: page,
  }));
  const end = {
    type: 'storefront.scan_end' as const,
    ...key,
    pages: pages.length,
    complete,
    currency,
    collector,
  };
  return [...pages, end];
};
