import { ObservedProduct } from '#contracts/observations/storefront-scan.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import type { JsonObject } from './json-object.ts';
import {
  hasMoreVariants,
  isShopifyProduct,
  priceUnitOf,
  shopifyCurrencyOf,
  shopifyProductOf,
} from './shopify-product.ts';
import {
  hasPriceUnit,
  hasUnreadPrice,
  isWoocommerceProduct,
  woocommerceCurrencyOf,
  woocommerceProductOf,
} from './woocommerce-product.ts';

/** `refused`: why the product cannot be taken, and what to do. */
export type ShopProduct =
  | { readonly product: ObservedProduct; readonly currency: string | null }
  | { readonly fault: string; readonly advice: string };

export const isShopProduct = (value: JsonObject): boolean =>
  isShopifyProduct(value) || isWoocommerceProduct(value);

export const shopProductOf = (value: JsonObject): ShopProduct => {
  const isOfWoocommerce = isWoocommerceProduct(value);
  if (isOfWoocommerce ? !hasPriceUnit(value) : priceUnitOf(value) === null)
    return {
      fault: 'has prices in whole numbers, and no member that shows whether they are cents',
      advice: isOfWoocommerce
        ? 'add currency_minor_unit to its prices'
        : 'write its prices as texts with their decimals, such as "59.90"',
    };
  if (isOfWoocommerce && hasUnreadPrice(value))
    return {
      fault: 'has a price that is no number of minor units',
      advice: 'write it like the Store API, such as "5990" with currency_minor_unit 2',
    };
  if (hasMoreVariants(value))
    return { fault: 'has more variants than the page shows', advice: 'export all variants of the product' };
  const parsed = ObservedProduct.safeParse(
    isOfWoocommerce ? woocommerceProductOf(value) : shopifyProductOf(value),
  );
  const issue = parsed.error?.issues[0];
  if (parsed.data === undefined)
    return {
      fault: `is not a valid product: ${issue?.path.join('.')}: ${issue?.message}`,
      advice: 'fix the product and import it again',
    };
  const currency = isOfWoocommerce ? woocommerceCurrencyOf(value) : shopifyCurrencyOf(value);
  return { product: parsed.data, currency };
};

export const UNKNOWN_STATUS = 'unknown status';
/** Statuses of products that visitors see only by address or not at all, and of products that they see. */
const UNLISTED = ['draft', 'archived', 'unlisted', 'pending', 'private', 'future', 'trash'];
const dayOf = (time: string): number => Math.floor(Date.parse(time) / DAY_MS);
const LISTED: readonly unknown[] = [undefined, null, '', 'active', 'publish', 'published'];

/** `null` for a product that visitors can see. `scannedAt`: a product of a later day is not published yet. */
export const unlistedReasonOf = (product: JsonObject, scannedAt?: string): string | null => {
  const { status, published_at: published = product['publishedAt'] } = product;
  const word = typeof status === 'string' ? status.trim().toLowerCase() : status;
  if (!LISTED.includes(word)) return UNLISTED.find((one) => one === word) ?? UNKNOWN_STATUS;
  const isLater =
    scannedAt !== undefined && typeof published === 'string' && dayOf(published) > dayOf(scannedAt);
  return published === null || isLater ? 'not published' : null;
};
