import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `storefront-<domain>`: the public catalogue of a shop. */
export const STOREFRONT = 'storefront';
export const storefrontStream = (domain: string): string => `${STOREFRONT}-${domain}`;

/** `null`: never observed. For `compare_at_price` also: there is none. */
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

type Sighting = {
  /** The brand of the domain. It may not have a profile yet. */
  readonly brand_id: string;
  readonly domain: string;
  readonly scan_id: string;
  readonly observed_at: string;
};

/** JSON characters of one event, so that none exceeds an append; a larger product gets its own event. */
export const STOREFRONT_EVENT_MAX_CHARACTERS = 150_000;

/** Listed first or again. The first complete scan, and incomplete ones before it, are the baseline and not news. */
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

/** Listed prices all lower, all higher, or both. */
export type PriceMove = 'cheaper' | 'dearer' | 'mixed';

export type ProductChange = {
  readonly product_id: string;
  readonly title: string;
  readonly details: Partial<ProductDetails>;
  /** Variant ids in page order; `null` when none was added, removed or reordered. */
  readonly order: readonly string[] | null;
  readonly variants_listed: readonly ProductVariant[];
  readonly variants_changed: readonly VariantChange[];
  readonly variants_delisted: readonly string[];
  /** `null` when no listed price changed, or the scan uses another currency. */
  readonly price_move: PriceMove | null;
  /** False when only unknown values became known. */
  readonly news: boolean;
};
export type ProductsChanged = Event<
  'ProductsChanged',
  Sighting & { readonly changes: readonly ProductChange[] }
>;

/** First absence from a complete scan: missing, not delisted. At most 5,000 per event. */
export type ProductsMissed = Event<'ProductsMissed', Sighting & { readonly product_ids: readonly string[] }>;

/** At most 5,000 per event. */
export type ProductsSeen = Event<'ProductsSeen', Sighting & { readonly product_ids: readonly string[] }>;

/** Products absent from two complete scans at least 20 hours apart, and from all in between. */
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
  readonly seen: number;
  /** Products after the scan, missing ones included. */
  readonly products: number;
  readonly missing: number;
  readonly baseline: number;
  readonly listed: number;
  readonly returned: number;
  readonly changed: number;
  readonly delisted: number;
  /** Products whose listed prices only fell, only rose (`dearer`), or did both (`mixed`). */
  readonly cheaper: number;
  readonly dearer: number;
  readonly mixed: number;
};

/** `totals.cheaper / totals.products` is valid only for a `complete` scan, neither `baseline` nor late. */
export type StorefrontScanRecorded = Event<
  'StorefrontScanRecorded',
  Sighting & {
    readonly collector: string;
    /** True if read to its end. An empty response never counts as complete. */
    readonly complete: boolean;
    readonly claimed_complete: boolean;
    readonly pages: number;
    readonly currency: string | null;
    /** True for the first complete scan of the shop: nothing in it is news. */
    readonly baseline: boolean;
    /** True if older than one recorded before: it adds history for its day only. */
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

export const storefrontVersions: EventVersions<StorefrontEvent> = {
  ProductsListed: [],
  ProductsChanged: [],
  ProductsMissed: [],
  ProductsSeen: [],
  ProductsDelisted: [],
  StorefrontScanRecorded: [],
};
