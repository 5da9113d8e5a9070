import type { ObservedProduct, ObservedVariant } from '#contracts/observations/storefront-scan.ts';
import { isObject, type JsonObject, objectAt, objectsAt } from './json-object.ts';
import { amountOfMinorUnits } from './minor-units.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};
const CODE_POINT_MAX = 0x10ffff;

/** The API writes texts as HTML. An unknown reference stays. */
const decoded = (text: string): string =>
  text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? whole;
    const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return point > 0 && point <= CODE_POINT_MAX ? String.fromCodePoint(point) : whole;
  });

const textAt = (value: JsonObject, key: string): string | null => {
  const text = value[key];
  return typeof text === 'string' && text.trim() !== '' ? decoded(text) : null;
};

const idAt = (value: JsonObject): string => {
  const { id } = value;
  return typeof id === 'number' || typeof id === 'string' ? String(id) : '';
};

/** Minor units in the Store API, decimals in the REST API. `null` when invalid. */
const priceAt = (product: JsonObject, key: string): string | null => {
  const { prices } = product;
  if (!isObject(prices)) return textAt(product, key);
  return amountOfMinorUnits(prices[key], prices['currency_minor_unit']);
};

/** The list of products has no prices of variations, so they are unknown. */
const variationOf = (variation: JsonObject): ObservedVariant => ({
  id: idAt(variation),
  title:
    objectsAt(variation, 'attributes')
      .map((attribute) => textAt(attribute, 'value'))
      .filter((value) => value !== null)
      .join(' / ') || null,
  sku: null,
  price: null,
  compare_at_price: null,
  available: null,
});

const onlyVariantOf = (product: JsonObject): ObservedVariant => {
  const [price, regular] = [priceAt(product, 'price'), priceAt(product, 'regular_price')];
  const { is_in_stock: inStock, stock_status: stock } = product;
  const isReduced = price !== null && regular !== null && Number(regular) > Number(price);
  return {
    id: idAt(product),
    title: null,
    sku: textAt(product, 'sku'),
    price,
    compare_at_price: price === null || regular === null ? null : isReduced ? regular : 'none',
    available:
      typeof inStock === 'boolean' ? inStock : typeof stock === 'string' ? stock === 'instock' : null,
  };
};

const imageOf = (product: JsonObject): string | null => {
  const source = objectsAt(product, 'images')[0]?.['src'];
  return typeof source === 'string' && /^https?:/i.test(source) && URL.canParse(source) ? source : null;
};

export const isWoocommerceProduct = (value: JsonObject): boolean =>
  typeof value['name'] === 'string' &&
  'id' in value &&
  (isObject(value['prices']) || ('permalink' in value && typeof value['regular_price'] === 'string'));

export const hasPriceUnit = ({ prices }: JsonObject): boolean =>
  !isObject(prices) || amountOfMinorUnits(0, prices['currency_minor_unit']) !== null;

/** Accepts the Store API, version 1, and the REST API. Not validated. */
export const woocommerceProductOf = (product: JsonObject): ObservedProduct => {
  const { variations: listed } = product;
  // The REST API lists only the ids of variations.
  const variations = (Array.isArray(listed) ? (listed as readonly unknown[]) : []).map((one) =>
    isObject(one) ? one : { id: one },
  );
  const [category] = objectsAt(product, 'categories');
  return {
    id: idAt(product),
    handle: textAt(product, 'slug') ?? '',
    title: textAt(product, 'name') ?? '',
    product_type: category === undefined ? null : textAt(category, 'name'),
    vendor: null,
    published_at: null,
    image_url: imageOf(product),
    variants: variations.length > 0 ? variations.map(variationOf) : [onlyVariantOf(product)],
  };
};

/** Some plugins write a decimal number where the Store API has minor units. */
export const hasUnreadPrice = ({ prices }: JsonObject): boolean =>
  isObject(prices) &&
  [prices['price'], prices['regular_price']].some(
    (price) => Boolean(price) && amountOfMinorUnits(price, prices['currency_minor_unit']) === null,
  );

export const woocommerceCurrencyOf = (product: JsonObject): string | null => {
  const code = objectAt(product, 'prices')['currency_code'];
  return typeof code === 'string' && /^[A-Z]{3}$/.test(code) ? code : null;
};
