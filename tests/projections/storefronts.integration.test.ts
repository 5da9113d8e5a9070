import { describe, expect, it } from 'vitest';
import { Store } from '#contracts/resources/corpus/store.ts';
import { brandIdOf } from '#domain/ids.ts';
import { store } from '#projections/store/project.ts';
import { readStore } from '#projections/store/read.ts';
import { given } from '../dsl/projections.ts';
import { shopEvents, shopProduct, shopScan } from '../dsl/site-events.ts';

const SHOP = 'shop.example';
const scan = (at: string, fields = {}) => shopScan(SHOP, at, fields);

/** Three weeks of a shop: a baseline, a sale, a product removed and back, a failed fetch, a late scan. */
const story = () =>
  shopEvents(
    { scan: scan('2026-05-04T08:00Z'), products: [shopProduct(1, '20.00'), shopProduct(2, '30.00')] },
    {
      scan: scan('2026-05-05T08:00Z'),
      products: [shopProduct(1, '18.00'), shopProduct(2, '30.00'), shopProduct(3, '9.00')],
    },
    { scan: scan('2026-05-06T08:00Z'), products: [shopProduct(1, '18.00'), shopProduct(3, '9.00')] },
    { scan: scan('2026-05-07T08:00Z'), products: [shopProduct(1, '18.00'), shopProduct(3, '9.00')] },
    {
      scan: scan('2026-05-18T08:00Z'),
      products: [
        shopProduct(1, '21.00'),
        shopProduct(2, '30.00', { variants: shopProduct(2, '31.00').variants.slice(0, 1) }),
      ],
    },
    { scan: scan('2026-05-19T08:00Z', { pages: 0 }), products: [] },
    { scan: scan('2026-05-11T08:00Z'), products: [shopProduct(1, '1.00')] },
  );

const read = async (
  db: Parameters<typeof readStore>[0],
  page = { limit: 10, after: null as string | null },
) => {
  const { data, asOf } = await readStore(db, brandIdOf(SHOP), page);
  return { store: Store.parse(JSON.parse(data)), asOf };
};

describe('store', () => {
  it('shows no URL of a product whose handle was cut', async () => {
    const cut = shopProduct(1, '9.00', { handle: 'boot…' });
    await given(shopEvents({ scan: scan('2026-05-04T08:00Z'), products: [cut, shopProduct(2, '9.00')] }))
      .into(store)
      .shows(
        async (db) => (await read(db)).store.products?.map(({ url }) => url),
        ['https://shop.example/products/boot-2', null],
      );
  });

  it('shows the catalogue as last collected, newest product first', async () => {
    await given(story())
      .into(store)
      .shows(
        async (db) => {
          const { store: shown, asOf } = await read(db);
          return {
            asOf,
            status: shown.status,
            latest: shown.latest_scan,
            completed: shown.last_complete_scan_at,
            total: shown.products_total,
            missing: shown.missing_products,
            products: shown.products?.map(
              ({ product_id, status, available, first_seen_at, changed_at, variants }) => [
                product_id,
                status,
                available,
                first_seen_at.slice(0, 10),
                changed_at?.slice(0, 10) ?? null,
                variants.map(({ variant_id, price }) => `${variant_id} ${price}`),
              ],
            ),
          };
        },
        {
          asOf: '2026-05-18T08:00:00.000Z',
          status: 'collected',
          latest: {
            scanned_at: '2026-05-19T08:00:00.000Z',
            complete: false,
            pages: 0,
            products_seen: 0,
            currency: 'USD',
            collector: 'test',
          },
          completed: '2026-05-18T08:00:00.000Z',
          total: 3,
          missing: 1,
          products: [
            ['3', 'missing', true, '2026-05-05', null, ['30 9.00', '31 9.00']],
            ['2', 'listed', true, '2026-05-04', '2026-05-18', ['20 31.00']],
            ['1', 'listed', true, '2026-05-04', '2026-05-18', ['10 21.00', '11 21.00']],
          ],
        },
      );
  });

  it('counts the weeks that have a scan and lists what changed, newest first', async () => {
    await given(story())
      .into(store)
      .shows(
        async (db) => {
          const { store: shown } = await read(db);
          return {
            weeks: shown.weeks.map(({ week_start, scans, complete_scans, products, ...counts }) => [
              week_start,
              scans,
              complete_scans,
              products,
              Object.values(counts).join(' '),
            ]),
            changes: shown.changes.map(({ type, observed_at, product_id, price_move }) =>
              [type, observed_at.slice(0, 10), product_id, price_move].join(' '),
            ),
          };
        },
        {
          // listed, returned, delisted, changed, cheaper, dearer, mixed
          weeks: [
            ['2026-05-04', 4, 4, 2, '1 0 1 1 1 0 0'],
            ['2026-05-11', 1, 1, null, '0 0 0 0 0 0 0'],
            ['2026-05-18', 2, 1, 3, '0 1 0 1 0 1 0'],
          ],
          changes: [
            'returned 2026-05-18 2 ',
            'changed 2026-05-18 1 dearer',
            'delisted 2026-05-07 2 ',
            'listed 2026-05-05 3 ',
            'changed 2026-05-05 1 cheaper',
          ],
        },
      );
  });

  it('shows the twelve weeks up to its newest scan, and their changes', async () => {
    const MONDAY = Date.parse('2026-01-05T08:00Z');
    const weeks = Array.from({ length: 15 }, (_, nth) =>
      new Date(MONDAY + nth * 7 * 86_400_000).toISOString(),
    );
    const scans = weeks.map((week, nth) => ({
      scan: scan(week),
      products: [shopProduct(1, `${20 + nth}.00`)],
    }));
    await given(shopEvents(...scans))
      .into(store)
      .shows(
        async (db) => {
          const { store: shown } = await read(db);
          return {
            weeks: shown.weeks.map(({ week_start }) => week_start),
            changes: shown.changes.map(({ observed_at }) => observed_at.slice(0, 10)),
          };
        },
        {
          weeks: weeks.slice(3).map((week) => week.slice(0, 10)),
          changes: weeks
            .slice(3)
            .map((week) => week.slice(0, 10))
            .toReversed(),
        },
      );
  });

  it('continues after the product of the cursor', async () => {
    await given(story())
      .into(store)
      .shows(
        async (db) => {
          const first = (await read(db, { limit: 2, after: null })).store;
          const rest = (await read(db, { limit: 2, after: first.next_product_id })).store;
          return [
            first.next_product_id,
            rest.products?.map(({ product_id }) => product_id),
            rest.next_product_id,
          ];
        },
        ['2', ['1'], null],
      );
  });

  it('is not collected if no scan has shown a product', async () => {
    const failed = shopEvents({ scan: scan('2026-05-04T08:00Z', { pages: 0 }), products: [] });
    await given(failed)
      .into(store)
      .shows(async (db) => (await read(db)).store, {
        status: 'not_collected',
        latest_scan: expect.objectContaining({ complete: false, products_seen: 0 }),
        last_complete_scan_at: null,
        currency: 'USD',
        products_total: null,
        missing_products: null,
        products: null,
        next_product_id: null,
        weeks: [expect.objectContaining({ scans: 1, products: null })],
        changes: [],
      });
    await given([])
      .into(store)
      .shows(async (db) => (await read(db)).store, {
        status: 'not_collected',
        latest_scan: null,
        last_complete_scan_at: null,
        currency: null,
        products_total: null,
        missing_products: null,
        products: null,
        next_product_id: null,
        weeks: [],
        changes: [],
      });
  });

  it('keeps a delisted product without its item text', async () => {
    await given(
      shopEvents(
        { scan: scan('2026-05-04T08:00Z'), products: [shopProduct(1, '20.00'), shopProduct(2, '30.00')] },
        { scan: scan('2026-05-05T08:00Z'), products: [shopProduct(1, '20.00')] },
        { scan: scan('2026-05-06T08:00Z'), products: [shopProduct(1, '20.00')] },
      ),
    )
      .into(store)
      .shows(
        (db) =>
          db.query<object>({
            sql: 'select product_id, listed, item is null as unshown from store.product order by number',
            values: [],
          }),
        [
          { product_id: '1', listed: true, unshown: false },
          { product_id: '2', listed: false, unshown: true },
        ],
      );
  });
});
