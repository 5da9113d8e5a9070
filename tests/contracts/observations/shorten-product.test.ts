import { describe, expect, test } from 'vitest';
import {
  ObservedProduct,
  PRODUCT_MAX_BYTES,
  PRODUCT_VARIANTS_MAX,
} from '#contracts/observations/storefront-scan.ts';
import { CUT_MARK } from '#contracts/values/text.ts';
import { shopProduct } from '#tests/dsl/site-events.ts';

const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value));

const variants = (count: number, text: string): ObservedProduct['variants'] =>
  Array.from({ length: count }, (_, index) => ({
    id: String(10_000_000_000_000_000_000n + BigInt(index)),
    title: text,
    sku: text,
    price: '123456789012.1234',
    compare_at_price: '123456789012.1234',
    available: false,
  }));

describe('a product over its limits', () => {
  test('has the texts of its variants cut until it fits, and keeps all variants', () => {
    // Text of characters with the most bytes as JSON.
    const observed = {
      ...shopProduct(1, '9.00'),
      variants: variants(PRODUCT_VARIANTS_MAX, 'a\u0001'.repeat(120)),
    };
    const product = ObservedProduct.parse(observed);
    expect(bytesOf(product)).toBeLessThanOrEqual(PRODUCT_MAX_BYTES);
    expect(product.variants.map(({ id }) => id)).toEqual(observed.variants.map(({ id }) => id));
    for (const { title, sku } of product.variants) {
      expect(title?.endsWith(CUT_MARK)).toBe(true);
      expect(sku?.endsWith(CUT_MARK)).toBe(true);
    }
    expect(ObservedProduct.parse(product)).toEqual(product);
  });

  test('loses the variants over their limit, and an image URL that is too long', () => {
    const image_url = `https://cdn.example/${'a'.repeat(3_000)}.jpg`;
    const observed = {
      ...shopProduct(1, '9.00'),
      image_url,
      variants: variants(PRODUCT_VARIANTS_MAX + 5, 'Red'),
    };
    const product = ObservedProduct.parse(observed);
    expect(product).toEqual({
      ...observed,
      image_url: null,
      variants: observed.variants.slice(0, PRODUCT_VARIANTS_MAX),
    });
  });

  test('is unchanged when it is only just within them', () => {
    const observed = { ...shopProduct(1, '9.00'), variants: variants(700, 'r'.repeat(190)) };
    expect(bytesOf(observed)).toBeGreaterThan(PRODUCT_MAX_BYTES * 0.8);
    expect(bytesOf(observed)).toBeLessThanOrEqual(PRODUCT_MAX_BYTES);
    expect(ObservedProduct.parse(observed)).toEqual(observed);
  });

  test('does not have its page refused because of a long SKU', () => {
    const observed = { ...shopProduct(1, '9.00'), variants: variants(1, 's'.repeat(300)) };
    expect(ObservedProduct.parse(observed).variants[0]?.sku).toBe(`${'s'.repeat(254)}${CUT_MARK}`);
  });
});
