import { createHash } from 'node:crypto';
import { OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import {
  type ObservedProduct,
  STOREFRONT_PAGE_PRODUCTS_MAX,
  type StorefrontScanEnd,
  type StorefrontScanPage,
} from '#contracts/observations/storefront-scan.ts';
import { scanIdOf } from '../ids.ts';

/** Bytes reserved in an observation for everything except its products. */
const FRAME_BYTES = 1_000;

/** Splits products into pages that each fit into one observation. */
const pagesOf = (products: readonly ObservedProduct[]): readonly (readonly ObservedProduct[])[] => {
  const pages: ObservedProduct[][] = [];
  let page: ObservedProduct[] = [];
  let bytes = FRAME_BYTES;
  for (const product of products) {
    const size = new TextEncoder().encode(JSON.stringify(product)).length + 1;
    const full = page.length >= STOREFRONT_PAGE_PRODUCTS_MAX || bytes + size > OBSERVATION_MAX_BYTES;
    if (page.length > 0 && full) {
      pages.push(page);
      page = [];
      bytes = FRAME_BYTES;
    }
    page.push(product);
    bytes += size;
  }
  if (page.length > 0) pages.push(page);
  return pages;
};

export type StorefrontScanScope = Pick<
  StorefrontScanEnd,
  'domain' | 'scanned_at' | 'complete' | 'currency' | 'collector'
>;

/**
 * Returns the observations of one scan: its pages, then its end. The scan id depends on all products, so that the same
 * products at the same time always give the same observations.
 */
export const storefrontObservations = (
  products: readonly ObservedProduct[],
  { domain, scanned_at, complete, currency, collector }: StorefrontScanScope,
): readonly (StorefrontScanPage | StorefrontScanEnd)[] => {
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([complete, products]))
    .digest('hex');
  const key = { scan_id: scanIdOf(domain, scanned_at, fingerprint), domain, scanned_at };
  const pages = pagesOf(products).map((page, index) => ({
    type: 'storefront.scan' as const,
    ...key,
    page: index,
    products: [...page],
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
