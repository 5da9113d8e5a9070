import type { Event } from '../event.ts';

/** Stream `storefront-<domain>`: what the public catalogue of a shop showed. */
export const STOREFRONT = 'storefront';
export const storefrontStream = (domain: string): string => `${STOREFRONT}-${domain}`;

/** `null`: never observed, for a price to compare with also "there is none". */
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
  /** In the order of the page. */
  readonly variants: readonly ProductVariant[];
};

/** In every event of a scan: which shop, which scan, and when it looked. */
type Sighting = {
  /** The brand that has the shop's domain, whether or not anybody has described it yet. */
  readonly brand_id: string;
  readonly domain: string;
  readonly scan_id: string;
  readonly observed_at: string;
};

/**
 * Events about products hold several, but no more than `STOREFRONT_FACT_MAX_CHARACTERS` of JSON, unless a single
 * product is longer: a catalogue is a few events, and none outgrows an append.
 */
export const STOREFRONT_EVENT_MAX_CHARACTERS = 150_000;

/**
 * Products met for the first time, or again after they had been delisted. Those of the first complete scan, and
 * of incomplete ones before it, are a baseline and no news.
 */
export type ProductsListed = Event<
  'ProductsListed',
  Sighting & { readonly novelty: 'baseline' | 'news' | 'returned'; readonly products: readonly Product[] }
>;

type Moved<Value> = { readonly from: Value; readonly to: Value };

export type VariantChange = {
  readonly variant_id: string;
  readonly title?: Moved<string | null>;
  readonly sku?: Moved<string | null>;
  readonly price?: Moved<string | null>;
  readonly compare_at_price?: Moved<string | null>;
  readonly available?: Moved<boolean | null>;
};

/** Of a product: whether listed prices fell, rose, or some one and some the other. */
export type PriceMove = 'cheaper' | 'dearer' | 'mixed';

export type ProductChange = {
  readonly product_id: string;
  /** As it is called now. */
  readonly title: string;
  readonly details: Partial<ProductDetails>;
  /** Ids of all variants in the order of the page, where variants came, went or changed places. */
  readonly order: readonly string[] | null;
  readonly variants_listed: readonly ProductVariant[];
  readonly variants_changed: readonly VariantChange[];
  readonly variants_delisted: readonly string[];
  /** `null`: no listed price moved, or the scan tells prices in another currency than the one before. */
  readonly price_move: PriceMove | null;
  /** False when all that changed is that blanks became known: completes the record and is no news. */
  readonly news: boolean;
};
export type ProductsChanged = Event<
  'ProductsChanged',
  Sighting & { readonly changes: readonly ProductChange[] }
>;

/** Absent from a complete scan for the first time: missing, not delisted. At most 5,000 an event. */
export type ProductsMissed = Event<'ProductsMissed', Sighting & { readonly product_ids: readonly string[] }>;

/** Missing products that a scan showed again. At most 5,000 an event. */
export type ProductsSeen = Event<'ProductsSeen', Sighting & { readonly product_ids: readonly string[] }>;

/** Absent from two complete scans at least 20 hours apart, and from every one between. */
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
  /** Products of which a listed price fell and none rose; the other way round; and with both. */
  readonly cheaper: number;
  readonly dearer: number;
  readonly mixed: number;
};

/**
 * Closes a scan. The share of a catalogue that got cheaper is `totals.cheaper` of `totals.products`, for a scan
 * that is `complete`, no `baseline` and no late arrival.
 */
export type StorefrontScanRecorded = Event<
  'StorefrontScanRecorded',
  Sighting & {
    readonly collector: string;
    /** The whole catalogue was read to its end. An empty answer never counts as that. */
    readonly complete: boolean;
    /** What the collector claimed of it. */
    readonly claimed_complete: boolean;
    readonly pages: number;
    readonly currency: string | null;
    /** The first complete scan of the shop: nothing in it is news. */
    readonly baseline: boolean;
    /** Older than one recorded before: history of its day, which changed nothing. */
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
