import { describe, expect, test } from 'vitest';
import type { StorefrontScanEnd, StorefrontScanPage } from '#contracts/observations/storefront-scan.ts';
import type { ReadOptions } from '#services/ingest/files/file-plan.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { ExportFolder, reading } from '../fixtures/export-files.ts';

const folder = await disposeAfterAll(ExportFolder.open());

const OPTIONS: ReadOptions = { brand: 'shop.example', scannedAt: '2026-03-02T08:00:00.000Z', complete: true };

const product = (id: number, fields: object = {}) => ({
  id,
  title: `Boot ${id}`,
  handle: `boot-${id}`,
  body_html: '<p>Words.</p>',
  published_at: '2026-03-01T10:00:00+05:30',
  vendor: 'Shop',
  product_type: '',
  tags: ['a', 'b'],
  variants: [
    { id: id * 10, title: 'One', sku: '', price: '20.00', compare_at_price: null, available: true, grams: 0 },
  ],
  images: [{ id: 1, src: '//cdn.shop.example/1.jpg' }],
  options: [],
  ...fields,
});

const read = async (name: string, content: string, options: ReadOptions = OPTIONS) => {
  const { observations, refused } = await reading(await folder.file(name, content), options);
  return {
    refused,
    observations,
    pages: observations.filter((one): one is StorefrontScanPage => one.type === 'storefront.scan'),
    ends: observations.filter((one): one is StorefrontScanEnd => one.type === 'storefront.scan_end'),
  };
};
const pageText = (...products: readonly object[]): string => JSON.stringify({ products });

describe('a catalogue page', () => {
  test.each([
    ['zones', '2026-03-02T10:00:00Z', '2026-03-02T12:00:00+03:00'],
    ['precisions', '2026-03-02T10:00:00.000Z', '2026-03-02T09:59:59Z'],
    ['notations', '2026-03-02T10:00:00.000Z', String(Date.UTC(2026, 2, 2, 9) / 1_000)],
  ])('is as of the newest of its own times, also in different %s', async (_what, newest, older) => {
    const pages = [newest, older].map((scanned_at, index) =>
      JSON.stringify({ scanned_at, products: [product(index + 1)] }),
    );
    for (const content of [pages, pages.toReversed()]) {
      const { ends } = await read('times.json', content.join('\n'), { brand: 'shop.example' });
      expect(ends).toMatchObject([{ scanned_at: '2026-03-02T10:00:00.000Z' }]);
    }
  });

  test('is detected by content and read into storefront observations', async () => {
    const { pages, ends, refused } = await read('one.json', pageText(product(7)));
    expect(refused).toEqual([]);
    expect(pages).toMatchObject([
      {
        domain: 'shop.example',
        page: 0,
        products: [
          {
            id: '7',
            handle: 'boot-7',
            title: 'Boot 7',
            product_type: null,
            vendor: 'Shop',
            published_at: '2026-03-01T04:30:00.000Z',
            image_url: 'https://cdn.shop.example/1.jpg',
            variants: [
              {
                id: '70',
                title: 'One',
                sku: null,
                price: '20.00',
                compare_at_price: 'none',
                available: true,
              },
            ],
          },
        ],
      },
    ]);
    expect(ends).toMatchObject([{ pages: 1, complete: true, currency: null }]);
  });

  test('reads missing members as unknown', async () => {
    const { pages } = await read(
      'blank.json',
      pageText(product(7, { variants: [{ id: 70, price: 9.5 }], images: [], published_at: undefined })),
    );
    expect(pages[0]?.products[0]).toMatchObject({
      image_url: null,
      published_at: null,
      variants: [{ price: '9.5', compare_at_price: null, available: null }],
    });
  });

  test('is one scan with the other pages of the file, as a list or one per line, in parts of 250 products', async () => {
    const products = Array.from({ length: 300 }, (_, index) => product(index + 1));
    const halves = [products.slice(0, 150), products.slice(150)].map((half) => pageText(...half));
    const list = await read('list.json', `[${halves.join()}]`);
    const lines = await read('lines.json', halves.join('\n'));
    for (const { pages, ends } of [list, lines]) {
      expect(pages.map((one) => one.products.length)).toEqual([250, 50]);
      expect(ends).toMatchObject([{ pages: 2, complete: true }]);
    }
    expect(list.ends[0]?.scan_id).toBe(lines.ends[0]?.scan_id);
  });

  test('is read when it exceeds the size limit of a record', async () => {
    const long = Array.from({ length: 250 }, (_, index) =>
      product(index + 1, { body_html: 'x'.repeat(20_000) }),
    );
    const { pages, refused } = await read('long.json', pageText(...long));
    expect(refused).toEqual([]);
    expect(pages[0]?.products).toHaveLength(250);
  });

  test('refuses an invalid product, and the scan is then not complete', async () => {
    const { pages, ends, refused } = await read(
      'broken.json',
      pageText(product(1), product(2, { title: '' }), product(3, { variants: [{ id: 30, price: '-5' }] })),
    );
    expect(refused.map(({ what }) => what)).toEqual([
      expect.stringContaining('is not a valid product: title'),
      expect.stringContaining('variants.0.price: a decimal number'),
    ]);
    expect(pages[0]?.products).toHaveLength(1);
    expect(ends).toMatchObject([{ complete: false }]);
  });

  test('yields no scan when all products are invalid', async () => {
    const { observations, refused } = await read('all-broken.json', pageText(product(1, { variants: [] })));
    expect(observations).toEqual([]);
    expect(refused).toHaveLength(1);
  });

  test('yields a scan without products when it is empty', async () => {
    const { pages, ends } = await read('empty.json', pageText());
    expect(pages).toEqual([]);
    expect(ends).toMatchObject([{ pages: 0 }]);
  });

  test('keeps the products before a truncation, and the scan is not complete', async () => {
    const { pages, ends, refused } = await read('cut.json', pageText(product(1), product(2)).slice(0, -40));
    expect(pages[0]?.products).toHaveLength(1);
    expect(ends).toMatchObject([{ complete: false }]);
    expect(refused.length).toBeGreaterThan(0);
  });

  test('leaves out the drafts in an export of the shop itself', async () => {
    const { pages } = await read(
      'admin.json',
      pageText(product(1, { status: 'active', tags: 'a, b' }), product(2, { status: 'draft' })),
    );
    expect(pages[0]?.products.map(({ id }) => id)).toEqual(['1']);
  });

  test('is refused as a whole without a brand or a time', async () => {
    const { brand: _brand, ...noBrand } = OPTIONS;
    const { scannedAt: _time, ...noTime } = OPTIONS;
    for (const [options, option] of [
      [noBrand, '--brand'],
      [noTime, '--scanned-at'],
    ] as const) {
      const { observations, refused } = await read('unknown.json', pageText(product(1)), options);
      expect(observations).toEqual([]);
      expect(refused[0]?.advice).toContain(option);
    }
  });

  test('is distinguished from observations of this service', async () => {
    const { observations } = await read('own.json', pageText(product(7)));
    const lines = observations.map((one) => JSON.stringify(one)).join('\n');
    const again = await read('own.ndjson', lines);
    expect(again.refused).toEqual([]);
    expect(again.observations).toEqual(observations);
  });
});

describe('an export of detected technologies', () => {
  const shopify = {
    slug: 'shopify',
    name: 'Shopify',
    confidence: 100,
    website: 'https://www.shopify.com',
    categories: [{ id: 6, slug: 'ecommerce', name: 'Ecommerce' }],
  };
  const optimizely = {
    name: 'Optimizely',
    website: 'nowhere',
    categories: [{ id: 74, name: 'A/B Testing' }],
  };
  const { brand: _brand, complete: _complete, ...noBrand } = OPTIONS;

  test('yields one scan per site of a list, with the name and category of each tool', async () => {
    const { observations, refused } = await read(
      'sites.json',
      JSON.stringify([
        { url: 'https://www.one.example/', technologies: [shopify, optimizely] },
        { url: 'https://two.example/', technologies: [] },
      ]),
      noBrand,
    );
    expect(refused).toEqual([]);
    expect(observations).toMatchObject([
      {
        type: 'site.scan',
        domain: 'one.example',
        complete: false,
        tools: [
          { slug: 'shopify', name: 'Shopify', category: 'Ecommerce', website_url: 'https://www.shopify.com' },
          { slug: 'optimizely', name: 'Optimizely', category: 'A/B Testing', website_url: null },
        ],
        split_test_tools: [],
        split_tests: [],
      },
      { domain: 'two.example', tools: [] },
    ]);
  });

  test('merges several addresses and consecutive records of one site', async () => {
    const record = (path: string, technology: object): object => ({
      urls: { [`https://one.example/${path}`]: { status: 200 } },
      technologies: [technology],
    });
    const { observations } = await read(
      'urls.json',
      [record('', shopify), record('cart', optimizely)].map((one) => JSON.stringify(one)).join('\n'),
      OPTIONS,
    );
    expect(observations).toMatchObject([
      { domain: 'shop.example', complete: true, tools: [{ slug: 'shopify' }, { slug: 'optimizely' }] },
    ]);
  });

  test('refuses a site with an invalid domain, and a record without technologies', async () => {
    const { observations, refused } = await read(
      'bad.json',
      JSON.stringify([
        { url: 'https://localhost/', technologies: [shopify] },
        { url: 'https://one.example/' },
        { url: 'https://two.example/', technologies: [{ ...shopify, slug: 'x', name: ' ' }] },
      ]),
      noBrand,
    );
    expect(observations).toEqual([]);
    expect(refused.map(({ what }) => what)).toEqual([
      'has no valid domain in its address',
      'is not a site with technologies',
      expect.stringContaining('tools.0.name'),
    ]);
  });
});
