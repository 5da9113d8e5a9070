import { ObservedProduct } from '#contracts/observations/storefront-scan.ts';
import { isObject } from '#domain/shapes/json-object.ts';
import { shopifyProductOf } from '#domain/shapes/shopify-product.ts';
import { woocommerceCurrencyOf, woocommerceProductOf } from '#domain/shapes/woocommerce-product.ts';
import type { GetOutcome } from '#platform/http-client/polite-client.ts';

type Answered = Extract<GetOutcome, { readonly kind: 'answered' }>;

export type CataloguePage = {
  readonly products: readonly ObservedProduct[];
  readonly refused: number;
  /** Number of products that the shop states; `null` without one. */
  readonly stated: number | null;
  readonly currency: string | null;
};

export type ShopSystem = {
  readonly collector: string;
  /** Shop systems publish 25,000 products at most. */
  readonly pagesMax: number;
  path(page: number): string;
  /** `null` for a response that is not a catalogue page. */
  read(answer: Answered): CataloguePage | null;
};

const STATED_MAX = 10_000_000;

/** `undefined` unless the status is 200 and the body is JSON. */
export const jsonOf = ({ status, body }: Answered): unknown => {
  if (status !== 200) return undefined;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    // HTML, a cut text, or too deep nesting.
    return undefined;
  }
};

/** `null` unless it is a count. */
export const countOf = (value: unknown): number | null => {
  const count = typeof value === 'string' && /^\d{1,8}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= STATED_MAX
    ? count
    : null;
};

const productsOf = (
  items: readonly unknown[],
  map: (item: Readonly<Record<string, unknown>>) => ObservedProduct,
): Pick<CataloguePage, 'products' | 'refused'> => {
  const products = items.flatMap((item) => {
    const parsed = isObject(item) ? ObservedProduct.safeParse(map(item)) : null;
    return parsed?.success ? [parsed.data] : [];
  });
  return { products, refused: items.length - products.length };
};

const shopify: ShopSystem = {
  collector: 'shopify-catalogue-1',
  pagesMax: 101,
  path: (page) => `/products.json?limit=250&page=${page}`,
  read: (answer) => {
    const value = jsonOf(answer);
    if (!isObject(value) || !Array.isArray(value['products'])) return null;
    return { ...productsOf(value['products'], shopifyProductOf), stated: null, currency: null };
  },
};

const woocommerce: ShopSystem = {
  collector: 'woocommerce-catalogue-1',
  pagesMax: 251,
  path: (page) => `/wp-json/wc/store/v1/products?per_page=100&page=${page}&orderby=id`,
  read: (answer) => {
    const value = jsonOf(answer);
    const stated = countOf(answer.headers['x-wp-total']);
    if (!Array.isArray(value)) return null;
    // Other APIs return lists too. A catalogue states a total, or its items have prices.
    if (stated === null && !value.some((item) => isObject(item) && isObject(item['prices']))) return null;
    const [first] = value;
    const currency = isObject(first) ? woocommerceCurrencyOf(first) : null;
    return { ...productsOf(value, woocommerceProductOf), stated, currency };
  },
};

export const SHOP_SYSTEMS = { shopify, woocommerce } as const;
export type ShopSystemName = keyof typeof SHOP_SYSTEMS;
