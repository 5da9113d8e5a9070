import { createHash } from 'node:crypto';
import {
  type ObservedProduct,
  STOREFRONT_PAGE_PRODUCTS_MAX,
  type StorefrontScanEnd,
  type StorefrontScanPage,
} from '#contracts/observations/storefront-scan.ts';
import { scanIdOf } from '../ids.ts';
import { observationParts } from './observation-parts.ts';

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
