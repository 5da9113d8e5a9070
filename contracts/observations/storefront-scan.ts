import { z } from 'zod';
import { cutNameKey, cutProseText, cutText, uncutWebAddress } from '../values/text.ts';
import { ObservedDomain, Timestamp } from '../values/primitives.ts';

export const PRODUCT_TEXT_MAX_CHARACTERS = 255;
export const PRODUCT_HANDLE_MAX_CHARACTERS = 2_048;
const IMAGE_URL_MAX_CHARACTERS = 2_048;
export const PRODUCT_VARIANTS_MAX = 2_048;
/** An event with the product before and after a change fits into one append, with all variants' ids and prices. */
export const PRODUCT_MAX_BYTES = 400_000;
/** A UTF-16 unit has at most 3 bytes, so shorter products need no counting. */
const SHORT_UNITS = PRODUCT_MAX_BYTES / 3;

type Text = string | null;
type Product = {
  readonly image_url: Text;
  readonly variants: readonly { readonly title: Text; readonly sku: Text }[];
};

const isWithinBytes = (product: object): boolean => {
  const json = JSON.stringify(product);
  return json.length <= SHORT_UNITS || new TextEncoder().encode(json).length <= PRODUCT_MAX_BYTES;
};

const cut = (text: Text, maxCharacters: number): Text => text && cutText(text, maxCharacters);

/**
 * Nulls a long image URL, drops variants, then halves the texts of variants until the product fits. Shortening again
 * changes nothing, so that an unchanged product equals itself in the next scan.
 */
export const shortenProduct = <P extends Product>(product: P): P => {
  const { image_url: imageUrl, variants } = product;
  const isUrlLong = imageUrl !== null && imageUrl.length > IMAGE_URL_MAX_CHARACTERS;
  const counted: P = {
    ...product,
    image_url: isUrlLong ? null : imageUrl,
    variants: variants.slice(0, PRODUCT_VARIANTS_MAX),
  };
  let short = counted;
  for (let max = PRODUCT_TEXT_MAX_CHARACTERS >> 1; max > 0 && !isWithinBytes(short); max >>= 1) {
    short = {
      ...counted,
      variants: counted.variants.map((variant) => ({
        ...variant,
        title: cut(variant.title, max),
        sku: cut(variant.sku, max),
      })),
    };
  }
  return short;
};

/** A shop publishes at most 25,000 products in its catalogue pages. */
export const STOREFRONT_PAGE_PRODUCTS_MAX = 250;
export const STOREFRONT_PAGES_MAX = 1_000;
export const STOREFRONT_PRODUCTS_MAX = 25_000;

const CatalogueId = z.string().regex(/^[1-9][0-9]{0,19}$/, 'an id of 1 to 20 digits');

const PRICE = /^\d{1,12}(\.\d{1,4})?$/;
/** As the shop wrote it, `"59.90"`, in the currency of the scan. */
export const ListedPrice = z.string().regex(PRICE, 'a decimal number such as "59.90"');

/** `null` means unknown and overwrites nothing. */
export const ObservedVariant = z.strictObject({
  id: CatalogueId,
  title: cutProseText(PRODUCT_TEXT_MAX_CHARACTERS).nullable(),
  sku: cutProseText(PRODUCT_TEXT_MAX_CHARACTERS).nullable(),
  price: ListedPrice.nullable(),
  /** `none`: the page states that it has no price to compare with. */
  compare_at_price: z.union([ListedPrice, z.literal('none')]).nullable(),
  /** As published. It does not say how many are left. */
  available: z.boolean().nullable(),
});
export type ObservedVariant = z.infer<typeof ObservedVariant>;

/** In the `/products.json` format, of any size. `null` means unknown. */
const UncutProduct = z.strictObject({
  id: CatalogueId,
  handle: cutProseText(PRODUCT_HANDLE_MAX_CHARACTERS),
  title: cutProseText(1_000),
  product_type: cutProseText(PRODUCT_TEXT_MAX_CHARACTERS).nullable(),
  vendor: cutProseText(PRODUCT_TEXT_MAX_CHARACTERS).nullable(),
  published_at: Timestamp.nullable(),
  image_url: uncutWebAddress().nullable(),
  /** A variant missing here has been delisted. */
  variants: z.array(ObservedVariant).min(1),
});

/** Cut to its limits (`shortenProduct`), not rejected for its length. Parsing the result again changes nothing. */
export const ObservedProduct = UncutProduct.transform(shortenProduct);
export type ObservedProduct = z.infer<typeof ObservedProduct>;

const scanKey = { scan_id: z.uuid(), domain: ObservedDomain, scanned_at: Timestamp };

/** Pages may arrive in any order and more than once. */
export const StorefrontScanPage = z.strictObject({
  type: z.literal('storefront.scan'),
  ...scanKey,
  page: z
    .int()
    .min(0)
    .max(STOREFRONT_PAGES_MAX - 1),
  products: z.array(ObservedProduct).min(1).max(STOREFRONT_PAGE_PRODUCTS_MAX),
});
export type StorefrontScanPage = z.infer<typeof StorefrontScanPage>;

/** Decisions start only now. `pages` is 0 for a fetch without products. */
export const StorefrontScanEnd = z.strictObject({
  type: z.literal('storefront.scan_end'),
  ...scanKey,
  pages: z.int().min(0).max(STOREFRONT_PAGES_MAX),
  /** A collection, one page of several, or an empty response is not the complete public catalogue. */
  complete: z.boolean(),
  /** If the storefront gives it. Prices of different currencies are not compared. */
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'three capital letters, such as USD')
    .nullable(),
  collector: cutNameKey(100),
});
export type StorefrontScanEnd = z.infer<typeof StorefrontScanEnd>;
