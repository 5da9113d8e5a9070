import { HOUR_MS } from '#contracts/values/time.ts';
import {
  type Product,
  type ProductChange,
  type ProductsListed,
  STOREFRONT_EVENT_MAX_CHARACTERS,
  type StorefrontEvent,
} from '#contracts/events/corpus/storefront.ts';
import type { ObservedProduct, StorefrontScanEnd } from '#contracts/observations/storefront-scan.ts';
import { boundedGroups } from '#domain/event-size-limit.ts';
import { brandIdOf } from '#domain/ids.ts';
import { productChange, productOf } from './compare-product.ts';
import { EMPTY_TALLY, type StorefrontState } from './state.ts';

/**
 * As for library scans: absent is not delisted, the first complete scan is a baseline, blanks overwrite nothing, an
 * older scan is history (services/domain/README.md). Decided in parts, each with the memory of one page.
 */

/** Between two complete scans that both miss a product. */
export const DELISTED_AFTER_HOURS = 20;
/** Maximum product ids in one event. */
const EVENT_IDS_MAX = 5_000;

type Sighting = {
  readonly brand_id: string;
  readonly domain: string;
  readonly scan_id: string;
  readonly observed_at: string;
};

export type StorefrontScan = Pick<
  StorefrontScanEnd,
  'scan_id' | 'domain' | 'scanned_at' | 'currency' | 'collector' | 'pages'
> & { readonly complete: boolean; readonly claimed_complete: boolean };

/** A scan without any product is a failed fetch and never complete. */
export const storefrontScanOf = (end: StorefrontScanEnd, products: number): StorefrontScan => ({
  ...end,
  complete: end.complete && products > 0,
  claimed_complete: end.complete,
});

const sightingOf = ({ scan_id, domain, scanned_at }: StorefrontScan): Sighting => ({
  brand_id: brandIdOf(domain),
  domain,
  scan_id,
  observed_at: scanned_at,
});

const hoursBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / HOUR_MS;

/** History: changes no product. */
const isLate = ({ scanned_at }: StorefrontScan, state: StorefrontState): boolean =>
  state.scanned_at !== null && scanned_at < state.scanned_at;

/** No product may be in two parts. */
export const recordProductSightings =
  (scan: StorefrontScan, shown: readonly ObservedProduct[]) =>
  (state: StorefrontState): StorefrontEvent[] => {
    if (isLate(scan, state)) return [];
    const at = sightingOf(scan);
    const { currency } = scan;
    const currencyChanged = currency !== null && state.currency !== null && currency !== state.currency;
    const first = state.completed_at === null ? 'baseline' : 'news';
    const listings: Record<ProductsListed['data']['novelty'], Product[]> = {
      baseline: [],
      news: [],
      returned: [],
    };
    const changes: ProductChange[] = [];
    const seen: string[] = [];
    for (const observed of shown) {
      const existing = state.products.get(observed.id);
      const product = productOf(observed, existing?.product);
      if (!existing?.listed) {
        listings[existing ? 'returned' : first].push(product);
        continue;
      }
      const change = productChange(existing.product, product, currencyChanged);
      if (change) changes.push(change);
      if (existing.missing_since !== null) seen.push(observed.id);
    }
    return [
      ...(['baseline', 'news', 'returned'] as const).flatMap((novelty) =>
        boundedGroups(listings[novelty], STOREFRONT_EVENT_MAX_CHARACTERS).map(
          (products): StorefrontEvent => ({ type: 'ProductsListed', data: { ...at, novelty, products } }),
        ),
      ),
      ...boundedGroups(changes, STOREFRONT_EVENT_MAX_CHARACTERS).map(
        (group): StorefrontEvent => ({ type: 'ProductsChanged', data: { ...at, changes: group } }),
      ),
      ...boundedGroups(seen, STOREFRONT_EVENT_MAX_CHARACTERS, EVENT_IDS_MAX).map(
        (product_ids): StorefrontEvent => ({ type: 'ProductsSeen', data: { ...at, product_ids } }),
      ),
    ];
  };

/** Only a complete scan has any. No product may be in two parts. */
export const recordProductAbsences =
  (scan: StorefrontScan, absent: readonly string[]) =>
  (state: StorefrontState): StorefrontEvent[] => {
    if (!scan.complete || isLate(scan, state)) return [];
    const at = sightingOf(scan);
    const missed: string[] = [];
    const delisted: { product_id: string; title: string; missing_since: string }[] = [];
    for (const product_id of absent) {
      const existing = state.products.get(product_id);
      if (!existing?.listed) continue;
      const { product, missing_since } = existing;
      if (missing_since === null) missed.push(product_id);
      else if (hoursBetween(missing_since, at.observed_at) >= DELISTED_AFTER_HOURS)
        delisted.push({ product_id, title: product.title, missing_since });
    }
    return [
      ...boundedGroups(missed.toSorted(), STOREFRONT_EVENT_MAX_CHARACTERS, EVENT_IDS_MAX).map(
        (product_ids): StorefrontEvent => ({ type: 'ProductsMissed', data: { ...at, product_ids } }),
      ),
      ...boundedGroups(
        delisted.toSorted((one, other) => (one.product_id < other.product_id ? -1 : 1)),
        STOREFRONT_EVENT_MAX_CHARACTERS,
      ).map((products): StorefrontEvent => ({ type: 'ProductsDelisted', data: { ...at, products } })),
    ];
  };

/** Call after all parts are recorded. */
export const closeStorefrontScan =
  (scan: StorefrontScan, seen: number) =>
  (state: StorefrontState): StorefrontEvent[] => {
    const { scan_id, collector, pages, currency, complete, claimed_complete } = scan;
    const late = isLate(scan, state);
    return [
      {
        type: 'StorefrontScanRecorded',
        data: {
          ...sightingOf(scan),
          collector,
          complete,
          claimed_complete,
          pages,
          currency,
          baseline: complete && !late && state.completed_at === null,
          late_arrival: late,
          totals: {
            seen,
            products: state.listed,
            missing: state.missing,
            ...(state.open.scan_id === scan_id ? state.open.tally : EMPTY_TALLY),
          },
        },
      },
    ];
  };
