import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ObservedProduct } from '#contracts/observations/storefront-scan.ts';
import { SHOP_SYSTEMS } from '#services/collector/storefront/read-storefront.ts';
import { runs } from '#tests/property-seed.ts';

const anything = fc.oneof(
  fc.jsonValue(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '1e999',
    '-0',
    '٣',
    '9'.repeat(400),
    `\0`,
    '\ud83d',
    1e308,
    -1,
    Number.MAX_SAFE_INTEGER + 2,
  ),
);
/** Good values are more frequent, so that some products are valid. */
const mostly = (good: unknown, other: fc.Arbitrary<unknown> = anything) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(good) }, { weight: 1, arbitrary: other });
const named = (names: readonly string[], value: fc.Arbitrary<unknown> = anything) =>
  fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] });
const list = (value: fc.Arbitrary<unknown>) => fc.oneof(fc.array(value, { maxLength: 4 }), anything);

const shopify = fc.record({
  products: fc.array(
    fc.oneof(
      anything,
      fc.record(
        {
          id: mostly(7),
          title: mostly('Shoe'),
          handle: mostly('shoe'),
          vendor: mostly('Maker'),
          product_type: mostly(null),
          published_at: mostly('2026-01-01T00:00:00Z'),
          images: list(named(['id', 'src', 'width', 'height'])),
          variants: mostly(
            [{ id: 1, price: '5.00' }],
            list(named(['id', 'title', 'sku', 'price', 'compare_at_price', 'available', 'position'])),
          ),
        },
        { requiredKeys: [] },
      ),
    ),
    { maxLength: 5 },
  ),
});
const woocommerce = fc.array(
  fc.record(
    {
      id: mostly(7),
      name: mostly('Shoe'),
      slug: mostly('shoe'),
      prices: fc.oneof(
        named(['price', 'regular_price', 'sale_price', 'currency_code', 'currency_minor_unit']),
        anything,
      ),
      images: list(named(['id', 'src'])),
      variations: list(named(['id', 'attributes'])),
      categories: list(named(['name', 'slug'])),
      is_in_stock: anything,
    },
    { requiredKeys: [] },
  ),
  { maxLength: 5 },
);

test.each([
  ['shopify', shopify],
  ['woocommerce', woocommerce],
] as const)('a page of %s with any values has valid products only, and counts all others', (system, page) => {
  const url = new URL('https://shop.example/');
  let kept = 0;
  fc.assert(
    fc.property(fc.oneof({ weight: 5, arbitrary: page }, fc.jsonValue()), anything, (value, total) => {
      const body = Buffer.from(JSON.stringify(value));
      const headers = { 'x-wp-total': JSON.stringify(total) };
      const read = SHOP_SYSTEMS[system].read({ kind: 'answered', status: 200, headers, body, url });
      if (read === null) return;
      const items = Array.isArray(value) ? value : (value as { products: readonly unknown[] }).products;
      expect(read.products.length + read.refused).toBe(items.length);
      for (const product of read.products) expect(ObservedProduct.parse(product)).toEqual(product);
      expect(JSON.stringify(read.products)).not.toMatch(/\\u0000|\\ud[89a-f]/);
      expect(read.currency === null || /^[A-Z]{3}$/.test(read.currency)).toBe(true);
      expect(read.stated === null || Number.isSafeInteger(read.stated)).toBe(true);
      kept += read.products.length;
    }),
    { numRuns: runs(300) },
  );
  expect(kept).toBeGreaterThan(30);
});
