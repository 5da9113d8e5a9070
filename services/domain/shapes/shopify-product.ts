import type { ObservedProduct, ObservedVariant } from '#contracts/observations/storefront-scan.ts';
import { type JsonObject, objectAt, objectsAt } from './json-object.ts';

const ID_MAX_DIGITS = 20;

const textAt = (value: JsonObject, key: string): string | null => {
  const text = value[key];
  return typeof text === 'string' && text.trim() !== '' ? text : null;
};

const idAt = (value: JsonObject): string => {
  const { id } = value;
  return typeof id === 'number' || typeof id === 'string' ? String(id).slice(0, ID_MAX_DIGITS + 1) : '';
};

const priceAt = (value: JsonObject, key: string): string | null => {
  const price = value[key];
  return typeof price === 'number' ? String(price) : textAt(value, key);
};

const timestampAt = (value: JsonObject, key: string): string | null => {
  const time = Date.parse(textAt(value, key) ?? '');
  return Number.isNaN(time) ? null : new Date(time).toISOString();
};

const imageOf = (product: JsonObject): string | null => {
  const [first] = objectsAt(product, 'images');
  const source = textAt(first ?? objectAt(product, 'image'), 'src')?.replace(/^\/\//, 'https://') ?? null;
  return source !== null && /^https?:/i.test(source) && URL.canParse(source) ? source : null;
};

const variantOf = (variant: JsonObject): ObservedVariant => ({
  id: idAt(variant),
  title: textAt(variant, 'title'),
  sku: textAt(variant, 'sku'),
  price: priceAt(variant, 'price'),
  // In this format, `null` means "no such price", and a missing member means "unknown".
  compare_at_price: variant['compare_at_price'] === null ? 'none' : priceAt(variant, 'compare_at_price'),
  available: typeof variant['available'] === 'boolean' ? variant['available'] : null,
});

/** Maps a product of `/products.json`, or of a shop's own export, to the observation's product. It is not validated. */
export const shopifyProductOf = (product: JsonObject): ObservedProduct => ({
  id: idAt(product),
  handle: textAt(product, 'handle') ?? '',
  title: textAt(product, 'title') ?? '',
  product_type: textAt(product, 'product_type'),
  vendor: textAt(product, 'vendor'),
  published_at: timestampAt(product, 'published_at'),
  image_url: imageOf(product),
  variants: objectsAt(product, 'variants').map(variantOf),
});

/** Returns false for drafts. A shop's own export includes them, but visitors cannot see them. */
export const isPublicProduct = (product: JsonObject): boolean =>
  product['status'] === undefined || product['status'] === 'active';
