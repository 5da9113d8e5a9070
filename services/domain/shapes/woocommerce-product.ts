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

/** Decodes the character references of a text that the API wrote as HTML. An unknown one stays as it is. */
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

/** Returns a price: minor units of the Store API, or the decimal number of the REST API. `null` when it is none. */
const priceAt = (product: JsonObject, key: string): string | null => {
  const { prices } = product;
  if (!isObject(prices)) return textAt(product, key);
  return amountOfMinorUnits(prices[key], prices['currency_minor_unit']);
};

/** Returns the variation of a product. Its price is not on the list of products, so it is unknown. */
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

/** Returns the product itself as its only variant. */
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

/** Returns true for a product of the Store API, or of the REST API (`wc/v3`). */
export const isWoocommerceProduct = (value: JsonObject): boolean =>
  typeof value['name'] === 'string' &&
  'id' in value &&
  (isObject(value['prices']) || ('permalink' in value && typeof value['regular_price'] === 'string'));

/** Returns true when the unit of a product's prices is known. */
export const hasPriceUnit = ({ prices }: JsonObject): boolean =>
  !isObject(prices) || amountOfMinorUnits(0, prices['currency_minor_unit']) !== null;

/** Maps a product of the WooCommerce Store API, version 1, or REST API to the observation's product. It is not validated. */
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

/** Returns the currency that the prices of a product name; `null` when they name none. */
export const woocommerceCurrencyOf = (product: JsonObject): string | null => {
  const code = objectAt(product, 'prices')['currency_code'];
  return typeof code === 'string' && /^[A-Z]{3}$/.test(code) ? code : null;
};
