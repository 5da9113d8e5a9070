import { describe, expect, test } from 'vitest';
import { on } from '#tests/dsl/api.ts';
import { shopEvents, shopProduct, shopScan } from '#tests/dsl/site-events.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { seedEvents } from '../fixtures/site-corpus.ts';
import { openApiStack } from '../fixtures/stack.ts';

const scan = (at: string, fields = {}) => shopScan('alpha.com', at, fields);

const stack = await disposeAfterAll(openApiStack());
const [app, key] = await Promise.all([stack.api(), stack.key(), stack.seed(['alpha', 'beta', 'gamma'])]);
await seedEvents(stack, [
  ...shopEvents(
    { scan: scan('2026-05-04T08:00Z'), products: [1, 2, 3].map((id) => shopProduct(id, '20.00')) },
    {
      scan: scan('2026-05-12T08:00Z'),
      products: [shopProduct(1, '15.00'), shopProduct(2, '20.00'), shopProduct(3, '20.00')],
    },
    { scan: scan('2026-05-13T08:00Z', { pages: 0 }), products: [] },
  ),
  ...shopEvents({ scan: shopScan('gamma.com', '2026-05-04T08:00Z', { pages: 0 }), products: [] }),
]);

const storeOf = async (path: string) => {
  const reply = await on(app).get(`/v1/brands/${path}`, { key });
  return { ...reply, store: reply.data as Record<string, unknown> };
};

describe('getBrandStore 200', () => {
  test('returns the last collected catalogue with variants, listed prices and the published flag', async () => {
    const { store, meta } = await storeOf('alpha/store');
    expect(store).toMatchObject({
      status: 'collected',
      latest_scan: { complete: false, products_seen: 0, scanned_at: '2026-05-13T08:00:00.000Z' },
      last_complete_scan_at: '2026-05-12T08:00:00.000Z',
      currency: 'USD',
      products_total: 3,
      missing_products: 0,
    });
    expect(meta.as_of).toBe('2026-05-12T08:00:00.000Z');
    expect((store['products'] as object[])[2]).toEqual({
      product_id: '1',
      handle: 'boot-1',
      title: 'Boot 1',
      url: 'https://alpha.com/products/boot-1',
      product_type: 'Boots',
      vendor: null,
      image_url: null,
      published_at: null,
      status: 'listed',
      missing_since: null,
      first_seen_at: '2026-05-04T08:00:00.000Z',
      changed_at: '2026-05-12T08:00:00.000Z',
      available: true,
      variants: [
        {
          variant_id: '10',
          title: 'One',
          sku: null,
          price: '15.00',
          compare_at_price: null,
          available: true,
        },
        {
          variant_id: '11',
          title: 'Two',
          sku: null,
          price: '15.00',
          compare_at_price: null,
          available: false,
        },
      ],
    });
  });

  test('returns the changes in total and per week', async () => {
    const { store } = await storeOf('alpha/store');
    expect(store['weeks']).toMatchObject([
      { week_start: '2026-05-04', scans: 1, complete_scans: 1, products: 3, changed: 0, cheaper: 0 },
      { week_start: '2026-05-11', scans: 2, complete_scans: 1, products: 3, changed: 1, cheaper: 1 },
    ]);
    expect(store['changes']).toMatchObject([
      {
        type: 'changed',
        product_id: '1',
        price_move: 'cheaper',
        variants_changed: 2,
        variants: [
          { variant_id: '10', price: { from: '20.00', to: '15.00' }, available: null },
          { variant_id: '11' },
        ],
      },
    ]);
  });

  test('returns each product once over several requests', async () => {
    const seen: string[] = [];
    let after = '';
    do {
      const { store } = await storeOf(`alpha/store?limit=2${after}`);
      seen.push(...(store['products'] as { product_id: string }[]).map(({ product_id }) => product_id));
      const next = store['next_product_id'] as string | null;
      after = next === null ? '' : `&after=${next}`;
    } while (after);
    expect(seen).toEqual(['3', '2', '1']);
  });

  test.each([
    ['that nobody scanned', 'beta', null],
    ['of which every scan came back empty', 'gamma', { products_seen: 0 }],
  ])('reports a shop %s as not collected instead of an empty catalogue', async (_case, slug, latest_scan) => {
    const { store } = await storeOf(`${slug}/store`);
    expect(store).toMatchObject({
      status: 'not_collected',
      latest_scan,
      products: null,
      products_total: null,
    });
  });
});

describe('getBrandStore 400', () => {
  test.each(['limit=0', 'limit=1001', 'after=boot', 'page=2'])('rejects %s', async (query) => {
    expect((await on(app).get(`/v1/brands/alpha/store?${query}`, { key })).status).toBe(400);
  });
});
