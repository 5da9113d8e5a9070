import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asciiDomain, ObservedDomain, Slug, Uuid } from '#contracts/values/primitives.ts';
import { brandSlug, brandSlugsOf, domainOfOldSlug, reserveBrandSlug } from '#domain/corpus/brand-slug.ts';
import { brandIdOf } from '#domain/ids.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { given } from '#tests/dsl/deciders.ts';
import { runs } from '#tests/property-seed.ts';

const AT = '2026-05-01T00:00:00.000Z';

test.each([
  ['quill-basics.example', ['quill-basics', 'quill-basics-example']],
  ['acme.co.uk', ['acme', 'acme-co-uk']],
  ['shop.acme.com', ['acme', 'shop-acme-com']],
  ['acme.myshopify.com', ['acme', 'acme-myshopify-com']],
  ['myshopify.com', ['myshopify', 'myshopify-com']],
  ['x.com', ['x', 'x-com']],
  ['bücher.example', ['bucher', 'bucher-example']],
  ['straße.example', ['strasse', 'strasse-example']],
  ['日本.example', ['xn--wgv71a', 'xn--wgv71a-example']],
  ['sitemap.com', ['sitemap-com']],
  ['1f3c9a2e-8d1b-4e6f-9a2c-7b4d1e8f0a63.com', ['1f3c9a2e-8d1b-4e6f-9a2c-7b4d1e8f0a63-com']],
])('the brand of %s asks for %j, and then for one with its id', (text, slugs) => {
  const domain = asciiDomain(text);
  expect(brandSlugsOf(domain)).toEqual([...slugs, `${slugs.at(-1)}-${brandIdOf(domain)}`]);
});

/** Domains of which many want the same slug. */
const part = fc.constantFrom('a', 'b', 'a-b', 'co', 'com', 'xn--bcher-kva', 'sitemap', 'a'.repeat(63));
const anyDomain = fc.oneof(
  fc.array(part, { minLength: 1, maxLength: 4 }).map((labels) => `${labels.join('.')}.com`),
  fc.domain().filter((domain) => ObservedDomain.safeParse(domain).success),
);

test('brands get different slugs, which the contract accepts and which are no ids', () => {
  fc.assert(
    fc.property(fc.uniqueArray(anyDomain, { minLength: 1, maxLength: 20 }), (domains) => {
      const slugs = new Set<string>();
      for (const domain of domains) {
        const slug = brandSlugsOf(domain).find((one) => !slugs.has(one)) ?? '';
        expect([Slug.safeParse(slug).success, Uuid.safeParse(slug).success]).toEqual([true, false]);
        slugs.add(slug);
      }
      expect(slugs.size).toBe(domains.length);
    }),
    { numRuns: runs(500) },
  );
});

test('an older slug names the domain that it was made of', () => {
  fc.assert(
    fc.property(anyDomain, (domain) => {
      expect(domainOfOldSlug(domain.replaceAll('-', '--').replaceAll('.', '-'))).toBe(domain);
    }),
    { numRuns: runs(500) },
  );
});

test('no brand has a slug that is a word of the paths', () => {
  const words = ENDPOINTS.flatMap(({ path }) => /^\/v1\/brands\/([a-z-]+)/.exec(path)?.[1] ?? []);
  expect(words).toContain('sitemap');
  for (const word of words) expect(brandSlugsOf(`${word}.com`)).not.toContain(word);
});

test('the first brand that asks for a slug keeps it', () => {
  const reserved = { slug: 'acme', brand_id: brandIdOf('acme.com'), domain: 'acme.com', observed_at: AT };
  const event = { type: 'BrandSlugReserved', data: reserved } as const;
  given(brandSlug)
    .when(reserveBrandSlug('acme', 'acme.com', AT))
    .records(event);
  given(brandSlug, event)
    .when(reserveBrandSlug('acme', 'acme.de', AT))
    .records();
});
