import type { ObservedProduct, ObservedVariant } from '#contracts/observations/storefront-scan.ts';
import { isObject, type JsonObject, objectAt, objectsAt } from './json-object.ts';
import { amountOfMinorUnits } from './minor-units.ts';

const ID_MAX_DIGITS = 20;
/** Shop scripts write every amount in hundredths, also of a currency without decimals. */
const SCRIPT_DECIMALS = 2;

const firstAt = (value: JsonObject, ...keys: readonly string[]): unknown =>
  keys.map((key) => value[key]).find((member) => member !== undefined);

const textAt = (value: JsonObject, ...keys: readonly string[]): string | null => {
  const text = firstAt(value, ...keys);
  return typeof text === 'string' && text.trim() !== '' ? text : null;
};

const elementsAt = (value: JsonObject, key: string): readonly JsonObject[] => {
  const member = objectAt(value, key);
  if ('nodes' in member) return objectsAt(member, 'nodes');
  return 'edges' in member
    ? objectsAt(member, 'edges').map((edge) => objectAt(edge, 'node'))
    : objectsAt(value, key);
};

/** Also of a global id such as `gid://shopify/Product/7`. */
const idAt = ({ id }: JsonObject): string =>
  typeof id === 'number' || typeof id === 'string'
    ? String(id)
        .replace(/^gid:\/\/shopify\/\w+\//, '')
        .slice(0, ID_MAX_DIGITS + 1)
    : '';

/** A text or number as the shop wrote it, perhaps inside an object. `null` when there is none. */
const amountAt = (variant: JsonObject, ...keys: readonly string[]): string | number | null => {
  const price = firstAt(variant, ...keys);
  const amount = isObject(price) ? price['amount'] : price;
  if (typeof amount === 'string') return amount.trim() === '' ? null : amount.trim();
  return typeof amount === 'number' ? amount : null;
};
const PRICE = ['price', 'priceV2'] as const;
const COMPARE_AT_PRICE = ['compare_at_price', 'compareAtPrice', 'compareAtPriceV2'] as const;

/** Some members occur only in shop scripts; several others often do. */
const isOfScript = (product: JsonObject): boolean => {
  if (Object.keys(product).some((name) => /^(compare_at_)?price_(min|max|varies)$/.test(name))) return true;
  const { available, media, images, featured_image: image, url, type, product_type: productType } = product;
  const [variant = {}] = elementsAt(product, 'variants');
  const signs = [
    typeof available === 'boolean',
    Array.isArray(media),
    Array.isArray(images) && typeof images[0] === 'string',
    typeof image === 'string',
    typeof url === 'string' && url.includes('/products/'),
    typeof type === 'string' && productType === undefined,
    ['name', 'public_title', 'inventory_management'].some((name) => name in variant),
  ];
  return signs.filter(Boolean).length > 1;
};

/** `major` for 59.90, `minor` for 5990. `null` when whole numbers and other members leave the unit open. */
export const priceUnitOf = (product: JsonObject): 'major' | 'minor' | null => {
  const amounts = elementsAt(product, 'variants')
    .flatMap((variant) => [amountAt(variant, ...PRICE), amountAt(variant, ...COMPARE_AT_PRICE)])
    .filter((amount) => amount !== null && Number(amount) !== 0);
  // A number that went through a table of floats ends in `.0`.
  if (amounts.length === 0 || amounts.some((amount) => !/^\d+(?:\.0)?$/.test(String(amount)))) return 'major';
  const areTexts = amounts.every((amount) => typeof amount === 'string');
  // Catalogue pages have amounts as texts, without a point if the currency has no decimals.
  if (isOfScript(product)) return areTexts ? null : 'minor';
  return areTexts ? 'major' : null;
};

const timestampAt = (value: JsonObject, ...keys: readonly string[]): string | null => {
  const time = Date.parse(textAt(value, ...keys) ?? '');
  return Number.isNaN(time) ? null : new Date(time).toISOString();
};

const imageOf = (product: JsonObject): string | null => {
  const { images } = product;
  const first: unknown = Array.isArray(images) ? images[0] : elementsAt(product, 'images')[0];
  const image = first ?? firstAt(product, 'image', 'featured_image', 'featuredImage');
  const source = isObject(image) ? textAt(image, 'src', 'url', 'originalSrc') : image;
  const address = typeof source === 'string' ? source.replace(/^\/\//, 'https://') : '';
  return /^https?:/i.test(address) && URL.canParse(address) ? address : null;
};

const variantOf = (variant: JsonObject, unit: 'major' | 'minor' | null): ObservedVariant => {
  const priceOf = (amount: string | number | null): string | null => {
    if (amount === null || unit === null) return null;
    return unit === 'minor' ? amountOfMinorUnits(amount, SCRIPT_DECIMALS) : String(amount);
  };
  const compared = amountAt(variant, ...COMPARE_AT_PRICE);
  const available = firstAt(variant, 'available', 'availableForSale');
  // In this format, `null` means "no such price", and a missing member means "unknown".
  const isNone =
    firstAt(variant, ...COMPARE_AT_PRICE) === null || (unit === 'minor' && Number(compared ?? 1) === 0);
  return {
    id: idAt(variant),
    title: textAt(variant, 'title'),
    sku: textAt(variant, 'sku'),
    price: priceOf(amountAt(variant, ...PRICE)),
    compare_at_price: isNone ? 'none' : priceOf(compared),
    available: typeof available === 'boolean' ? available : null,
  };
};

export const isShopifyProduct = (value: JsonObject): boolean => {
  const { variants, title } = value;
  const hasVariants =
    Array.isArray(variants) || (isObject(variants) && ('edges' in variants || 'nodes' in variants));
  return hasVariants && typeof title === 'string' && ('id' in value || 'handle' in value);
};

/** Accepts catalogue pages, shop scripts, GraphQL and exports. Not validated. Prices of an unknown unit are unknown. */
export const shopifyProductOf = (product: JsonObject): ObservedProduct => {
  const unit = priceUnitOf(product);
  return {
    id: idAt(product),
    handle: textAt(product, 'handle') ?? '',
    title: textAt(product, 'title') ?? '',
    product_type: textAt(product, 'product_type', 'productType', 'type'),
    vendor: textAt(product, 'vendor'),
    published_at: timestampAt(product, 'published_at', 'publishedAt'),
    image_url: imageOf(product),
    variants: elementsAt(product, 'variants').map((variant) => variantOf(variant, unit)),
  };
};

export const hasMoreVariants = (product: JsonObject): boolean =>
  objectAt(objectAt(product, 'variants'), 'pageInfo')['hasNextPage'] === true;

export const shopifyCurrencyOf = (product: JsonObject): string | null => {
  const price = firstAt(elementsAt(product, 'variants')[0] ?? {}, ...PRICE);
  const code = isObject(price) ? price['currencyCode'] : null;
  return typeof code === 'string' && /^[A-Z]{3}$/.test(code) ? code : null;
};
