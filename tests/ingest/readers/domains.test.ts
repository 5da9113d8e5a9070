import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ObservedDomain } from '#contracts/values/primitives.ts';
import { brandSlugOf } from '#domain/ids.ts';
import { runs } from '#tests/property-seed.ts';

/** Random texts of letters, dots and hyphens, to test which are domains and which slugs they get. */
const anyText = fc.string({ unit: fc.constantFrom('a', 'b', '.', '-'), minLength: 1, maxLength: 8 });
const anyDomain = anyText
  .map((text) => `${text}.example`)
  .filter((text) => ObservedDomain.safeParse(text).success);

test('different domains get different slugs', () => {
  fc.assert(
    fc.property(anyDomain, anyDomain, (one, other) => {
      expect(brandSlugOf(one) === brandSlugOf(other)).toBe(one === other);
    }),
    { numRuns: runs(2_000) },
  );
});

test.each([
  'a..b.example',
  '.example',
  '-a.example',
  'a-.example',
  'a.example.',
  `${'a'.repeat(64)}.example`,
])('%s is refused as a domain', (domain) => expect(ObservedDomain.safeParse(domain).success).toBe(false));

test.each(['a-b.example', 'shop.co.example', 'xn--bcher-kva.example', '1.example'])(
  '%s is accepted as a domain',
  (domain) => expect(ObservedDomain.safeParse(domain).success).toBe(true),
);
