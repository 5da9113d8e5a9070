import type { PlayedAnswer, PlayedSite } from '#tests/platform/http-client/played-sites.ts';

export type PlayedProduct = { readonly id: number; readonly price: string };

export const products = (count: number, firstId = 1): readonly PlayedProduct[] =>
  Array.from({ length: count }, (_, index) => ({ id: firstId + index, price: '19.90' }));

const shopifyProduct = ({ id, price }: PlayedProduct) => ({
  id,
  handle: `product-${id}`,
  title: `Product ${id}`,
  product_type: 'Shoes',
  vendor: 'Shop',
  published_at: '2026-04-01T10:00:00+02:00',
  images: [{ src: `https://cdn.shop.example/${id}.jpg` }],
  variants: [
    { id: 1_000 + id, title: 'Default', sku: `S${id}`, price, compare_at_price: null, available: true },
  ],
});

export const json = (value: unknown, headers: Readonly<Record<string, string>> = {}): PlayedAnswer => ({
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(value),
});

const HTML: PlayedAnswer = { headers: { 'content-type': 'text/html' }, body: '<html>Not found</html>' };
export const SHOP_PAGE = 250;

export type PlayedShop = {
  products: readonly PlayedProduct[];
  /** Count that `/meta.json` states; `null` plays a shop without one. */
  stated: number | null;
  robots: PlayedAnswer;
  /** Answers by path that replace the shop's own. */
  readonly instead: Map<string, ReturnType<PlayedSite>>;
  readonly site: PlayedSite;
};

export const shopifyShop = (list: readonly PlayedProduct[]): PlayedShop => {
  const shop: PlayedShop = {
    products: list,
    stated: list.length,
    robots: { status: 404 },
    instead: new Map(),
    site: (path, request) => {
      const instead = shop.instead.get(path);
      if (instead !== undefined) return instead;
      if (path === '/robots.txt') return shop.robots;
      if (path === '/meta.json')
        return shop.stated === null
          ? HTML
          : json({ currency: 'EUR', country: 'DE', published_products_count: shop.stated });
      const page = Number(/^\/products\.json\?limit=250&page=(\d+)$/.exec(path)?.[1] ?? Number.NaN);
      if (Number.isNaN(page)) return { ...HTML, status: 404 };
      if (page > 100) return { status: 400, body: '{}' };
      const shown = shop.products.slice((page - 1) * SHOP_PAGE, page * SHOP_PAGE);
      const etag = `"${page}-${JSON.stringify(shown).length}-${shown[0]?.price}"`;
      if (request.headers['if-none-match'] === etag) return { status: 304 };
      return json({ products: shown.map(shopifyProduct) }, { etag });
    },
  };
  return shop;
};

/** Plays a WooCommerce shop, whose every path that is not of its API answers HTML with 200. */
export const woocommerceShop =
  (list: readonly PlayedProduct[]): PlayedSite =>
  (path) => {
    if (path === '/robots.txt') return { status: 404 };
    const page = /^\/wp-json\/wc\/store\/v1\/products\?per_page=100&page=(\d+)&orderby=id$/.exec(path)?.[1];
    if (page === undefined) return HTML;
    const shown = list.slice((Number(page) - 1) * 100, Number(page) * 100);
    const items = shown.map(({ id, price }) => ({
      id,
      name: `Product &#8211; ${id}`,
      slug: `product-${id}`,
      sku: '',
      prices: {
        price: price.replace('.', ''),
        regular_price: '2990',
        currency_code: 'GBP',
        currency_minor_unit: 2,
      },
      images: [],
      categories: [{ name: 'Bags &amp; Cases' }],
      variations: id % 2 === 0 ? [{ id: 5_000 + id, attributes: [{ name: 'Size', value: 'XL' }] }] : [],
      is_in_stock: true,
    }));
    return json(items, { 'x-wp-total': String(list.length) });
  };
