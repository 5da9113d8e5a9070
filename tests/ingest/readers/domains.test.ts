import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ObservedDomain } from '#contracts/values/primitives.ts';
import { brandSlugOf } from '#domain/ids.ts';

/** Of letters, dots and hyphens in any order: what is taken as a domain, and what it is called in addresses. */
const anyText = fc.string({ unit: fc.constantFrom('a', 'b', '.', '-'), minLength: 1, maxLength: 8 });
const anyDomain = anyText
  .map((text) => `${text}.example`)
  .filter((text) => ObservedDomain.safeParse(text).success);

test('no two domains that are taken share a slug', () => {
  fc.assert(
    fc.property(anyDomain, anyDomain, (one, other) => {
      expect(brandSlugOf(one) === brandSlugOf(other)).toBe(one === other);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  'a..b.example',
  '.example',
  '-a.example',
  'a-.example',
  'a.example.',
  `${'a'.repeat(64)}.example`,
])('%s is no domain', (domain) => expect(ObservedDomain.safeParse(domain).success).toBe(false));

test.each(['a-b.example', 'shop.co.example', 'xn--bcher-kva.example', '1.example'])('%s is one', (domain) =>
  expect(ObservedDomain.safeParse(domain).success).toBe(true),
);
