import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Product,
  STOREFRONT_EVENT_MAX_CHARACTERS,
  type StorefrontEvent,
  type StorefrontTotals,
} from '#contracts/events/corpus/storefront.ts';
import type { ObservedProduct, StorefrontScanEnd } from '#contracts/observations/storefront-scan.ts';
import { brandIdOf, derivedId } from '#domain/ids.ts';
import { recordStorefrontScan } from '#tests/dsl/site-events.ts';
import { storefront, type StorefrontState } from '#domain/corpus/storefront/state.ts';

const DOMAIN = 'shop.example';

const scan = (at: string, fields: Partial<StorefrontScanEnd> = {}): StorefrontScanEnd => ({
  type: 'storefront.scan_end',
  scan_id: derivedId('test scan', `${at} ${JSON.stringify(fields)}`),
  domain: DOMAIN,
  scanned_at: new Date(at).toISOString(),
  pages: 1,
  complete: true,
  currency: 'USD',
  collector: 'test',
  ...fields,
});

const product = (
  id: number,
  price: string | null = '20.00',
  fields: Partial<ObservedProduct> = {},
): ObservedProduct => ({
  id: String(id),
  handle: `boot-${id}`,
  title: `Boot ${id}`,
  product_type: null,
  vendor: null,
  published_at: null,
  image_url: null,
  variants: [{ id: `${id}0`, title: 'One', sku: null, price, compare_at_price: null, available: true }],
  ...fields,
});

/** Shop whose scans are decided twice: the second decision must record nothing. */
const shop = () => {
  let state: StorefrontState = storefront.initial;
  const types = (events: readonly StorefrontEvent[]) => events.slice(0, -1).map(({ type }) => type);
  return {
    scan: (end: StorefrontScanEnd, ...products: readonly ObservedProduct[]) => {
      const events = recordStorefrontScan(end, products)(state);
      state = events.reduce(storefront.evolve, state);
      expect(recordStorefrontScan(end, products)(state), 'decided again').toEqual([]);
      const last = events.at(-1);
      if (last?.type !== 'StorefrontScanRecorded') throw new Error('the scan was not closed');
      return { events, types: types(events), recorded: last.data, totals: last.data.totals };
    },
    products: (): readonly Product[] =>
      [...state.products].flatMap(([, existing]) => (existing.listed ? [existing.product] : [])),
  };
};

describe('the first storefront scan', () => {
  test('is a baseline', () => {
    const { events, totals } = shop().scan(scan('2026-05-01T08:00Z'), product(1), product(2));
    expect(events).toMatchObject([
      {
        type: 'ProductsListed',
        data: {
          brand_id: brandIdOf(DOMAIN),
          novelty: 'baseline',
          products: [{ product_id: '1' }, { product_id: '2' }],
        },
      },
      { type: 'StorefrontScanRecorded', data: { baseline: true, complete: true, late_arrival: false } },
    ]);
    expect(totals).toMatchObject({ seen: 2, products: 2, baseline: 2, listed: 0, cheaper: 0 });
  });

  test('leaves the next scan in the baseline when it is incomplete', () => {
    const one = shop();
    one.scan(scan('2026-05-01T08:00Z', { complete: false }), product(1));
    const { totals, recorded } = one.scan(scan('2026-05-02T08:00Z'), product(1), product(2));
    expect(totals).toMatchObject({ baseline: 1, listed: 0, products: 2 });
    expect(recorded.baseline).toBe(true);
    expect(one.scan(scan('2026-05-03T08:00Z'), product(1), product(2), product(3)).totals.listed).toBe(1);
  });

  test('counts the first of two products with the same id', () => {
    const one = shop();
    expect(one.scan(scan('2026-05-01T08:00Z'), product(1, '5'), product(1, '9')).totals.seen).toBe(1);
    expect(one.products()[0]?.variants[0]?.price).toBe('5');
  });
});

describe('absence of a product', () => {
  test('delists after two complete scans at least 20 hours apart', () => {
    const one = shop();
    one.scan(scan('2026-05-01T08:00Z'), product(1), product(2));
    expect(one.scan(scan('2026-05-02T08:00Z'), product(1)).types).toEqual(['ProductsMissed']);
    const soon = one.scan(scan('2026-05-03T03:00Z'), product(1));
    expect(soon.types).toEqual([]);
    expect(soon.totals).toMatchObject({ products: 2, missing: 1 });
    const { events, totals } = one.scan(scan('2026-05-03T04:00Z'), product(1));
    expect(events[0]).toMatchObject({
      type: 'ProductsDelisted',
      data: { products: [{ product_id: '2', missing_since: '2026-05-02T08:00:00.000Z' }] },
    });
    expect(totals).toMatchObject({ products: 1, missing: 0, delisted: 1 });
  });

  test('ends at the next sighting, and a delisted product is recorded as returned', () => {
    const one = shop();
    one.scan(scan('2026-05-01T08:00Z'), product(1), product(2));
    one.scan(scan('2026-05-02T08:00Z'), product(1));
    expect(one.scan(scan('2026-05-03T08:00Z'), product(1), product(2)).types).toEqual(['ProductsSeen']);
    one.scan(scan('2026-05-04T08:00Z'), product(1));
    one.scan(scan('2026-05-05T08:00Z'), product(1));
    expect(one.products()).toHaveLength(1);
    expect(one.scan(scan('2026-05-06T08:00Z'), product(1), product(2)).totals.returned).toBe(1);
  });

  test('has no effect in an incomplete scan', () => {
    const one = shop();
    one.scan(scan('2026-05-01T08:00Z'), product(1), product(2));
    for (const day of [2, 3, 4]) {
      const { types, totals } = one.scan(scan(`2026-05-0${day}T08:00Z`, { complete: false }), product(1));
      expect(types).toEqual([]);
      expect(totals).toMatchObject({ products: 2, missing: 0 });
    }
  });

  test('counts a scan without products as a failed fetch, even if it claims to be complete', () => {
    const one = shop();
    one.scan(scan('2026-05-01T08:00Z'), product(1), product(2));
    for (const day of [2, 3, 4]) {
      const { types, recorded } = one.scan(scan(`2026-05-0${day}T08:00Z`, { pages: 0 }));
      expect(types).toEqual([]);
      expect(recorded).toMatchObject({ complete: false, claimed_complete: true, totals: { products: 2 } });
    }
    expect(one.products()).toHaveLength(2);
  });
});

describe('price changes', () => {
  const cheap = (id: number, ...prices: readonly string[]): ObservedProduct =>
    product(id, null, {
      variants: prices.map((price, index) => ({
        id: `${id}${index}`,
        title: null,
        sku: null,
        price,
        compare_at_price: null,
        available: null,
      })),
    });

  test('are counted per scan as cheaper, dearer or mixed', () => {
    const one = shop();
    one.scan(
      scan('2026-05-01T08:00Z'),
      cheap(1, '20.00', '30.00'),
      cheap(2, '10'),
      cheap(3, '5', '5'),
      cheap(4, '7'),
    );
    const { events, totals } = one.scan(
      scan('2026-05-02T08:00Z'),
      cheap(1, '18.00', '30.00'),
      cheap(2, '11'),
      cheap(3, '4', '6'),
      cheap(4, '7.00'),
    );
    expect(totals).toMatchObject({ changed: 3, cheaper: 1, dearer: 1, mixed: 1, products: 4 });
    expect(events[0]).toMatchObject({
      type: 'ProductsChanged',
      data: {
        changes: [
          {
            product_id: '1',
            price_move: 'cheaper',
            variants_changed: [{ variant_id: '10', price: { from: '20.00', to: '18.00' } }],
          },
          { product_id: '2', price_move: 'dearer' },
          { product_id: '3', price_move: 'mixed' },
        ],
      },
    });
  });

  test('record a new currency without a price move', () => {
    const one = shop();
    one.scan(scan('2026-05-01T08:00Z'), product(1, '20.00'));
    const { totals } = one.scan(scan('2026-05-02T08:00Z', { currency: 'EUR' }), product(1, '15.00'));
    expect(totals).toMatchObject({ changed: 0, cheaper: 0 });
    expect(one.products()[0]?.variants[0]?.price).toBe('15.00');
    const next = one.scan(scan('2026-05-03T08:00Z', { currency: 'EUR' }), product(1, '14.00'));
    expect(next.totals.cheaper).toBe(1);
  });

  test('record a compare-at price that appears or disappears, and ignore a blank', () => {
    const one = shop();
    const compared = (price: string | null): ObservedProduct =>
      product(1, '20.00', {
        variants: [
          { id: '10', title: null, sku: null, price: null, compare_at_price: price, available: null },
        ],
      });
    one.scan(scan('2026-05-01T08:00Z'), product(1, '20.00'));
    expect(one.scan(scan('2026-05-02T08:00Z'), compared('25.00')).totals.changed).toBe(1);
    expect(one.scan(scan('2026-05-03T08:00Z'), compared(null)).totals.changed).toBe(0);
    expect(one.products()[0]?.variants[0]).toMatchObject({ price: '20.00', compare_at_price: '25.00' });
    expect(one.scan(scan('2026-05-04T08:00Z'), compared('none')).totals.changed).toBe(1);
    expect(one.products()[0]?.variants[0]?.compare_at_price).toBeNull();
  });
});

describe('other product changes', () => {
  test('include variants that are listed, delisted or reordered', () => {
    const one = shop();
    const variant = (id: string) => ({
      id,
      title: null,
      sku: null,
      price: '9.00',
      compare_at_price: null,
      available: true,
    });
    const of = (...ids: readonly string[]): ObservedProduct =>
      product(1, null, { variants: ids.map(variant) });
    one.scan(scan('2026-05-01T08:00Z'), of('11', '12'));
    const { events } = one.scan(scan('2026-05-02T08:00Z'), of('13', '11'));
    expect(events[0]).toMatchObject({
      data: {
        changes: [
          {
            variants_listed: [{ variant_id: '13' }],
            variants_delisted: ['12'],
            order: ['13', '11'],
            news: true,
          },
        ],
      },
    });
    expect(one.products()[0]?.variants.map(({ variant_id }) => variant_id)).toEqual(['13', '11']);
    expect(one.scan(scan('2026-05-03T08:00Z'), of('11', '13')).totals.changed).toBe(0);
    expect(one.products()[0]?.variants.map(({ variant_id }) => variant_id)).toEqual(['11', '13']);
  });

  test('are not news when they fill a blank', () => {
    const one = shop();
    one.scan(scan('2026-05-01T08:00Z'), product(1));
    const { types, totals } = one.scan(scan('2026-05-02T08:00Z'), product(1, '20.00', { vendor: 'Ada' }));
    expect(types).toEqual(['ProductsChanged']);
    expect(totals.changed).toBe(0);
    expect(one.scan(scan('2026-05-03T08:00Z'), product(1)).types).toEqual([]);
  });
});

test('a scan older than the last one is recorded as late and changes no product', () => {
  const one = shop();
  one.scan(scan('2026-05-02T08:00Z'), product(1));
  const { types, recorded } = one.scan(scan('2026-05-01T08:00Z'), product(1, '99.00'), product(2));
  expect(types).toEqual([]);
  expect(recorded).toMatchObject({ late_arrival: true, totals: { seen: 2, products: 1, changed: 0 } });
  expect(one.scan(scan('2026-05-03T08:00Z'), product(1)).types).toEqual([]);
});

test('a catalogue of 5,000 products gives few events of bounded size', () => {
  const one = shop();
  const catalogue = (price: string): ObservedProduct[] =>
    Array.from({ length: 5_000 }, (_, index) => product(index + 1, price));
  for (const end of [
    one.scan(scan('2026-05-01T08:00Z'), ...catalogue('20.00')),
    one.scan(scan('2026-05-02T08:00Z'), ...catalogue('19.00')),
    one.scan(scan('2026-05-03T08:00Z'), product(1)),
    one.scan(scan('2026-05-04T08:00Z'), product(1)),
  ]) {
    expect(end.events.length).toBeLessThan(30);
    for (const { data } of end.events)
      expect(JSON.stringify(data).length).toBeLessThan(STOREFRONT_EVENT_MAX_CHARACTERS + 1_000);
  }
});

test('a scan that is interrupted at any event and decided again records the same events in total', () => {
  const first = recordStorefrontScan(scan('2026-05-01T08:00Z'), [
    product(1),
    product(2),
    product(3),
    product(5),
  ])(storefront.initial);
  const existing = first.reduce(storefront.evolve, storefront.initial);
  const next = recordStorefrontScan(scan('2026-05-02T08:00Z'), [product(1, '9'), product(2), product(4)]);
  const whole = next(existing);
  const totalsOf = (events: readonly StorefrontEvent[]): StorefrontTotals | undefined =>
    events.flatMap((event) => (event.type === 'StorefrontScanRecorded' ? [event.data.totals] : []))[0];
  for (let cut = 0; cut < whole.length; cut += 1) {
    const recorded = whole.slice(0, cut);
    const rest = next(recorded.reduce(storefront.evolve, existing));
    expect([...recorded, ...rest]).toEqual(whole);
    expect(totalsOf(rest)).toEqual(totalsOf(whole));
  }
});

test('after any sequence of scans the state has the products of the last sightings', () => {
  const arbitraryScan = fc.record({
    complete: fc.boolean(),
    hours: fc.integer({ min: 1, max: 40 }),
    products: fc.uniqueArray(
      fc.record({ id: fc.integer({ min: 1, max: 6 }), price: fc.integer({ min: 1, max: 3 }) }),
      {
        selector: ({ id }) => id,
        maxLength: 6,
      },
    ),
  });
  fc.assert(
    fc.property(fc.array(arbitraryScan, { maxLength: 12 }), (scans) => {
      const one = shop();
      let atMs = Date.parse('2026-05-01T08:00Z');
      const prices = new Map<string, string>();
      for (const { complete, hours, products } of scans) {
        atMs += hours * 3_600_000;
        const shown = products.map(({ id, price }) => product(id, `${price}.00`));
        const { recorded } = one.scan(scan(new Date(atMs).toISOString(), { complete }), ...shown);
        for (const { id, variants } of shown) prices.set(id, variants[0]?.price ?? '');
        const listed = one.products();
        for (const { id } of shown) expect(listed.map(({ product_id }) => product_id)).toContain(id);
        for (const { product_id, variants } of listed)
          expect(variants[0]?.price).toBe(prices.get(product_id));
        expect(recorded.totals.products).toBe(listed.length);
        if (listed.length === 0) expect(prices.size).toBe(0);
      }
    }),
  );
});
