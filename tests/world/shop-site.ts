import { createHash } from 'node:crypto';
import type { ObservedProduct } from '#contracts/observations/storefront-scan.ts';
import { catalogueOn, shopsOf } from '#deploy/local/demo/generators/storefronts.ts';
import type { DemoBrand } from '#deploy/local/demo/world/world.ts';
import { dayAt, type PlacedWorld } from './library-ads.ts';
import { html, NOT_FOUND, type PlayedHost, type PlayedReply } from './played-host.ts';

/** Products a page, and number of the last page, as Shopify limits them. */
const PAGE_PRODUCTS = 250;
const PAGES_MAX = 100;

/** The opposite of `services/domain/shapes/shopify-product.ts`. */
const shopifyProduct = (product: ObservedProduct) => ({
  id: Number(product.id),
  handle: product.handle,
  title: product.title,
  product_type: product.product_type,
  vendor: product.vendor,
  published_at: product.published_at,
  images: product.image_url === null ? [] : [{ src: product.image_url }],
  variants: product.variants.map((variant) => ({
    id: Number(variant.id),
    title: variant.title,
    sku: variant.sku,
    price: variant.price,
    compare_at_price: variant.compare_at_price === 'none' ? null : variant.compare_at_price,
    available: variant.available,
  })),
});

const json = (value: object, status = 200): PlayedReply => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(value),
});

/** The homepage has the profile as JSON-LD, as sites describe themselves to search engines. */
const homepageOf = (brand: DemoBrand): string => {
  const profile = {
    '@context': 'https://schema.org',
    '@type': 'Organization',
    name: brand.name,
    legalName: `${brand.name} Example Ltd`,
    url: `https://www.${brand.domain}/`,
    description: `${brand.name} is made up and sells ${brand.categoryPath[2].toLowerCase()}.`,
    address: { '@type': 'PostalAddress', addressCountry: brand.country },
  };
  return [
    `<!doctype html><html lang="${brand.language}"><head><title>${brand.name}</title>`,
    `<meta property="og:site_name" content="${brand.name}">`,
    `<script type="application/ld+json">${JSON.stringify(profile)}</script>`,
    `</head><body><h1>${brand.name}</h1></body></html>`,
  ].join('');
};

const withEtag = (reply: PlayedReply, known: string | undefined): PlayedReply => {
  const etag = `"${createHash('sha256').update(reply.body).digest('hex').slice(0, 32)}"`;
  const headers = { ...reply.headers, etag };
  return known === etag ? { status: 304, headers, body: '' } : { ...reply, headers };
};

/** A brand without a shop answers HTML with 200 for every path, as many sites do. */
export const createShopSite = (placed: PlacedWorld, brand: DemoBrand, now: () => Date): PlayedHost => {
  const hasShop = shopsOf(placed.world).includes(brand);
  const products = (): readonly ObservedProduct[] =>
    catalogueOn(placed.world, brand, dayAt(placed, now().getTime()));
  const productPage = (page: number): PlayedReply => {
    if (page > PAGES_MAX) return json({ errors: 'Exceeded max page' }, 400);
    const shown = products().slice((page - 1) * PAGE_PRODUCTS, page * PAGE_PRODUCTS);
    return json({ products: shown.map(shopifyProduct) });
  };
  return ({ path, headers }) => {
    const { pathname, searchParams } = new URL(path, `https://${brand.domain}`);
    if (pathname === '/robots.txt') return NOT_FOUND;
    if (!hasShop || pathname === '/') return html(homepageOf(brand));
    const known = headers['if-none-match'];
    switch (pathname) {
      case '/meta.json':
        return json({
          currency: 'USD',
          country: brand.country,
          published_products_count: products().length,
        });
      case '/products.json':
        return withEtag(productPage(Number(searchParams.get('page') ?? 1)), known);
      case '/password':
        return html('<!doctype html><title>Opening soon</title>');
      default:
        return NOT_FOUND;
    }
  };
};
