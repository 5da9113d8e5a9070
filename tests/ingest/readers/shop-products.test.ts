import { describe, expect, test } from 'vitest';
import type { ObservedProduct } from '#contracts/observations/storefront-scan.ts';
import { readFile } from '#services/ingest/files/read-file.ts';
import { ExportFolder, reading } from '../fixtures/export-files.ts';

const OPTIONS = { brand: 'shop.example', scannedAt: '2026-03-02T08:00:00.000Z', complete: true };

const read = async (content: object | string) => {
  await using folder = await ExportFolder.open();
  const path = await folder.file(
    'shop.json',
    typeof content === 'string' ? content : JSON.stringify(content),
  );
  const { observations, refused } = await reading(path, OPTIONS);
  const leftOut: string[] = [];
  for await (const item of readFile(path, OPTIONS)) if (item.kind === 'left_out') leftOut.push(item.reason);
  const products = observations.flatMap((one) => (one.type === 'storefront.scan' ? one.products : []));
  const end = observations.find((one) => one.type === 'storefront.scan_end');
  return { products, end, refused: refused.map(({ what }) => what), leftOut };
};
const pricesOf = (products: readonly ObservedProduct[]) =>
  products.flatMap(({ variants }) => variants.map((one) => `${one.price} ${one.compare_at_price}`));

const variant = { id: 70, title: 'One', sku: 'B1', price: '59.90', compare_at_price: null, available: true };
const product = (id: number, more: object = {}) => ({
  id,
  title: `Boot ${id}`,
  handle: `boot-${id}`,
  vendor: 'Shop',
  product_type: 'Shoes',
  published_at: '2026-03-01T10:00:00Z',
  variants: [variant],
  images: [{ src: 'https://cdn.shop.example/1.jpg' }],
  ...more,
});

describe('products are read', () => {
  test.each([
    ['as a list', [product(1), product(2)]],
    ['one per line', `${JSON.stringify(product(1))}\n${JSON.stringify(product(2))}`],
    ['from a member that holds one', { a: { product: product(1) }, b: { product: product(2) } }],
    ['from a search', { resources: { results: { products: [product(1), product(2)] } } }],
    [
      'from a connection with edges',
      { data: { products: { edges: [{ node: product(1) }, { node: product(2) }] } } },
    ],
    [
      'from a connection with nodes',
      { data: { products: { nodes: [product(1), product(2)], pageInfo: { hasNextPage: false } } } },
    ],
  ])('%s', async (_, content) => {
    const { products, refused, end } = await read(content);
    expect(refused).toEqual([]);
    expect(products.map(({ id }) => id)).toEqual(['1', '2']);
    expect(end).toMatchObject({ complete: true });
  });

  test('alone', async () => {
    expect((await read(product(1))).products).toMatchObject([{ id: '1', title: 'Boot 1' }]);
    expect((await read({ product: product(1) })).products).toHaveLength(1);
  });

  test('from the GraphQL interface, with its names, ids and amounts', async () => {
    const node = {
      id: 'gid://shopify/Product/8000000000001',
      title: 'Boot',
      handle: 'boot',
      status: 'ACTIVE',
      productType: 'Shoes',
      publishedAt: '2026-03-01T10:00:00Z',
      featuredImage: { url: 'https://cdn.shop.example/1.jpg' },
      variants: {
        edges: [
          {
            node: {
              id: 'gid://shopify/ProductVariant/9000000000001',
              title: 'One',
              availableForSale: true,
              price: { amount: '5990.0', currencyCode: 'JPY' },
              compareAtPrice: null,
            },
          },
        ],
      },
    };
    const { products, end, refused } = await read({ data: { products: { edges: [{ node, cursor: 'a' }] } } });
    expect(refused).toEqual([]);
    expect(products).toMatchObject([
      {
        id: '8000000000001',
        product_type: 'Shoes',
        published_at: '2026-03-01T10:00:00.000Z',
        image_url: 'https://cdn.shop.example/1.jpg',
        variants: [{ id: '9000000000001', price: '5990.0', compare_at_price: 'none', available: true }],
      },
    ]);
    expect(end).toMatchObject({ currency: 'JPY' });
    const more = { ...node, variants: { ...node.variants, pageInfo: { hasNextPage: true } } };
    expect((await read({ data: { products: { nodes: [more] } } })).refused).toEqual([
      'has more variants than the page shows',
    ]);
  });

  test('from the Store API of another shop system, as its collector reads them', async () => {
    const prices = { price: '5990', regular_price: '7990', currency_code: 'EUR', currency_minor_unit: 2 };
    const boot = {
      id: 41,
      name: 'Boot',
      slug: 'boot',
      prices,
      images: [],
      is_in_stock: true,
      type: 'simple',
    };
    const yen = { ...prices, currency_code: 'JPY', currency_minor_unit: 0 };
    const { products, end } = await read([boot, { ...boot, id: 42, prices: { ...prices, price: 7990 } }]);
    expect(pricesOf(products)).toEqual(['59.90 79.90', '79.90 none']);
    expect(end).toMatchObject({ currency: 'EUR', complete: true });
    expect(pricesOf((await read([{ ...boot, prices: yen }])).products)).toEqual(['5990 7990']);
    const { refused } = await read([
      boot,
      { ...boot, id: 43, prices: yen },
      { ...boot, prices: { price: '5990' } },
      { ...boot, prices: { ...prices, price: '59.90' } },
      { ...boot, prices: { ...prices, regular_price: '' } },
    ]);
    expect(refused).toEqual([
      'has prices in JPY, but products before it in EUR',
      expect.stringContaining('has prices in whole numbers'),
      expect.stringContaining('has a price that is no number of minor units'),
    ]);
    const rest = {
      id: 44,
      name: 'Boot',
      slug: 'boot',
      permalink: 'https://shop.example/p',
      price: '59.90',
      regular_price: '59.90',
      status: 'publish',
      stock_status: 'outofstock',
      variations: [45],
    };
    expect(
      (
        await read([
          { ...rest, variations: [] },
          { ...rest, id: 46, status: 'private' },
        ])
      ).products,
    ).toMatchObject([
      { id: '44', variants: [{ price: '59.90', compare_at_price: 'none', available: false }] },
    ]);
    expect((await read([rest])).products).toMatchObject([{ variants: [{ id: '45', price: null }] }]);
  });
});

describe('a price', () => {
  const scriptProduct = (id: number, price: unknown, more: object = {}) => ({
    id,
    title: 'Boot',
    handle: 'boot',
    type: 'Shoes',
    available: true,
    variants: [{ id: id * 10, name: 'Boot', price, compare_at_price: null }],
    images: ['//cdn.shop.example/1.jpg'],
    media: [{ id: 1 }],
    ...more,
  });

  test.each([
    ['price_min', { price_min: 5990 }],
    ['compare_at_price_max', { compare_at_price_max: 0 }],
    ['two members of scripts', { price_min: undefined }],
  ])('of a shop script is in hundredths, also without decimals in its currency: by %s', async (_, more) => {
    const products = [
      scriptProduct(1, 5990, more),
      scriptProduct(2, 5, more),
      scriptProduct(3, 300_000, more),
    ];
    const read1 = await read({ intent: 'related', products });
    expect(pricesOf(read1.products)).toEqual(['59.90 none', '0.05 none', '3000.00 none']);
    expect(read1.end).toMatchObject({ complete: false });
    expect(read1.products[0]).toMatchObject({
      product_type: 'Shoes',
      image_url: 'https://cdn.shop.example/1.jpg',
    });
    expect(pricesOf((await read(products)).products)).toEqual(pricesOf(read1.products));
  });

  test.each([
    ['with decimals', '59.90', '59.90'],
    ['without decimals, as a text', '5990', '5990'],
    ['a number with decimals', 59.9, '59.9'],
    ['zero', 0, '0'],
  ])('of a catalogue is taken as it is: %s', async (_, price, expected) => {
    const { products } = await read({ products: [product(1, { variants: [{ ...variant, price }] })] });
    expect(products[0]?.variants[0]?.price).toBe(expected);
  });

  test.each([
    ['a number without a sign of its unit', product(1, { variants: [{ ...variant, price: 5990 }] })],
    [
      'a text with a sign of scripts',
      { ...product(1, { variants: [{ ...variant, price: '5990' }] }), price_min: '5990' },
    ],
  ])('is refused when its unit is unknown: %s', async (_, unknown) => {
    const { products, refused, end } = await read({ products: [product(2), unknown] });
    expect(products.map(({ id }) => id)).toEqual(['2']);
    expect(refused).toEqual(['has prices in whole numbers, and no member that shows whether they are cents']);
    expect(end).toMatchObject({ complete: false });
  });
});

describe('a product of a shop export', () => {
  test.each(['active', 'ACTIVE', ' Active ', 'publish', null, ''])(
    'with the status %j is read',
    async (status) => {
      const { products, leftOut, end } = await read({ products: [product(1, { status })] });
      expect(products).toHaveLength(1);
      expect(leftOut).toEqual([]);
      expect(end).toMatchObject({ complete: true });
    },
  );

  test('that visitors cannot see is left out with its reason', async () => {
    const hidden = [
      { status: 'DRAFT' },
      { status: 'Archived' },
      { status: 'active', published_at: null },
      { published_at: undefined, publishedAt: null },
    ].map((more, at) => product(at + 2, more));
    const { products, leftOut, end } = await read({ products: [product(1), ...hidden] });
    expect(products).toHaveLength(1);
    expect(leftOut).toEqual(['draft', 'archived', 'not published', 'not published']);
    expect(end).toMatchObject({ complete: true });
  });

  test('that is published on a day after the scan is left out', async () => {
    const days = ['2026-03-02T23:00:00Z', '2026-03-03T00:00:00Z', 'soon'];
    const products = days.map((published_at, at) => product(at + 1, { published_at }));
    const read1 = await read({ products });
    expect(read1.products.map(({ id }) => id)).toEqual(['1', '3']);
    expect(read1.leftOut).toEqual(['not published']);
    expect(await read({ products: products.slice(1, 2) })).toMatchObject({ products: [], end: undefined });
  });

  test('with an unknown status is left out, and the scan is not complete', async () => {
    const { leftOut, end } = await read({
      products: [product(1), product(2, { status: 'HIDDEN' }), product(3, { status: 3 })],
    });
    expect(leftOut).toEqual(['unknown status', 'unknown status']);
    expect(end).toMatchObject({ complete: false });
  });

  test('is never complete for a collection or a page before the last', async () => {
    const nodes = [product(1)];
    for (const data of [
      { collection: { title: 'Boots', products: { nodes } } },
      { products: { nodes, pageInfo: { hasNextPage: true } } },
    ])
      expect((await read({ data })).end).toMatchObject({ complete: false });
  });
});
