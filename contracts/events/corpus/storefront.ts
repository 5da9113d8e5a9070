import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `storefront-<domain>`: the public catalogue of a shop. */
export const STOREFRONT = 'storefront';
export const storefrontStream = (domain: string): string => `${STOREFRONT}-${domain}`;

/** One variant of a product. `null`: never observed. For `compare_at_price` it also means that there is none. */
export type ProductVariant = {
  readonly variant_id: string;
  readonly title: string | null;
  readonly sku: string | null;
  readonly price: string | null;
  readonly compare_at_price: string | null;
  readonly available: boolean | null;
};

export type ProductDetails = {
  readonly handle: string;
  readonly title: string;
  readonly product_type: string | null;
  readonly vendor: string | null;
  readonly published_at: string | null;
  readonly image_url: string | null;
};

export type Product = ProductDetails & {
  readonly product_id: string;
  /** In the order of the catalogue page. */
  readonly variants: readonly ProductVariant[];
};

/** Fields of every event of a scan: brand, domain, scan and its time. */
type Sighting = {
  /** The brand of the shop's domain. It may not have a profile yet. */
  readonly brand_id: string;
  readonly domain: string;
  readonly scan_id: string;
  readonly observed_at: string;
};

/**
 * Maximum JSON size of one event about products, in characters; a single larger product gets its own event. A
 * catalogue thus becomes a few events, and none exceeds the size of an append.
 */
export const STOREFRONT_EVENT_MAX_CHARACTERS = 150_000;

/**
 * Products listed for the first time, or again after they had been delisted. Those of the first complete scan, and
 * of incomplete scans before it, are the baseline and not news.
 */
export type ProductsListed = Event<
  'ProductsListed',
  Sighting & { readonly novelty: 'baseline' | 'news' | 'returned'; readonly products: readonly Product[] }
>;

type ValueChange<Value> = { readonly from: Value; readonly to: Value };

export type VariantChange = {
  readonly variant_id: string;
  readonly title?: ValueChange<string | null>;
  readonly sku?: ValueChange<string | null>;
  readonly price?: ValueChange<string | null>;
  readonly compare_at_price?: ValueChange<string | null>;
  readonly available?: ValueChange<boolean | null>;
};

/** Direction of a product's listed price changes: all lower, all higher, or both. */
export type PriceMove = 'cheaper' | 'dearer' | 'mixed';

export type ProductChange = {
  readonly product_id: string;
  /** The current title. */
  readonly title: string;
  readonly details: Partial<ProductDetails>;
  /** Ids of all variants in page order; `null` when no variant was added, removed or reordered. */
  readonly order: readonly string[] | null;
  readonly variants_listed: readonly ProductVariant[];
  readonly variants_changed: readonly VariantChange[];
  readonly variants_delisted: readonly string[];
  /** `null` when no listed price changed, or when the scan uses another currency than the one before. */
  readonly price_move: PriceMove | null;
  /** False when only unknown values became known: this completes the record and is not news. */
  readonly news: boolean;
};
export type ProductsChanged = Event<
  'ProductsChanged',
  Sighting & { readonly changes: readonly ProductChange[] }
>;

/** Products absent from a complete scan for the first time: missing, not delisted. At most 5,000 per event. */
export type ProductsMissed = Event<'ProductsMissed', Sighting & { readonly product_ids: readonly string[] }>;

/** Missing products that a scan showed again. At most 5,000 per event. */
export type ProductsSeen = Event<'ProductsSeen', Sighting & { readonly product_ids: readonly string[] }>;

/** Products absent from two complete scans at least 20 hours apart, and from every complete scan in between. */
export type ProductsDelisted = Event<
  'ProductsDelisted',
  Sighting & {
    readonly products: readonly {
      readonly product_id: string;
      readonly title: string;
      readonly missing_since: string;
    }[];
  }
>;

export type StorefrontTotals = {
  /** Products that the scan showed. */
  readonly seen: number;
  /** Products of the catalogue after the scan, missing ones included. */
  readonly products: number;
  readonly missing: number;
  readonly baseline: number;
  readonly listed: number;
  readonly returned: number;
  readonly changed: number;
  readonly delisted: number;
  /** Number of products whose listed prices only fell (`cheaper`), only rose (`dearer`), or did both (`mixed`). */
  readonly cheaper: number;
  readonly dearer: number;
  readonly mixed: number;
};

/**
 * Closes a scan. The share of the catalogue that got cheaper is `totals.cheaper / totals.products`. It is valid
 * only for a scan that is `complete`, not `baseline` and not a late arrival.
 */
export type StorefrontScanRecorded = Event<
  'StorefrontScanRecorded',
  Sighting & {
    readonly collector: string;
    /** The whole catalogue was read to its end. An empty response never counts as complete. */
    readonly complete: boolean;
    /** The collector's own claim of completeness. */
    readonly claimed_complete: boolean;
    readonly pages: number;
    readonly currency: string | null;
    /** The first complete scan of the shop: nothing in it is news. */
    readonly baseline: boolean;
    /** The scan is older than one recorded before. It adds history for its day and changes nothing else. */
    readonly late_arrival: boolean;
    readonly totals: StorefrontTotals;
  }
>;

export type StorefrontEvent =
  | ProductsListed
  | ProductsChanged
  | ProductsMissed
  | ProductsSeen
  | ProductsDelisted
  | StorefrontScanRecorded;

/** Schema versions: each type's upcasters, from version 1 on. */
export const storefrontVersions: EventVersions<StorefrontEvent> = {
  ProductsListed: [],
  ProductsChanged: [],
  ProductsMissed: [],
  ProductsSeen: [],
  ProductsDelisted: [],
  StorefrontScanRecorded: [],
};
