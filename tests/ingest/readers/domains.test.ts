import { expect, test } from 'vitest';
import { SiteDomain } from '#contracts/observations/traffic-estimate.ts';
import { ObservedDomain } from '#contracts/values/primitives.ts';
import { brandDomainOf } from '#services/ingest/readers/scan-key.ts';

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

test.each([
  ['bücher.example', 'xn--bcher-kva.example'],
  ['https://www.Bücher.example/shop', 'xn--bcher-kva.example'],
  ['日本。example', 'xn--wgv71a.example'],
  ['Shop.example', 'shop.example'],
  ['bücher.example/a b', 'xn--bcher-kva.example'],
  ['bü cher.example', null],
  ['bücher', null],
])('the brand %s is taken as %s', (text, domain) => {
  expect(brandDomainOf(text)).toBe(domain);
});

test('a domain beyond ASCII is the same in observations and brands files', () => {
  expect(ObservedDomain.parse('bücher.example')).toBe('xn--bcher-kva.example');
  expect(ObservedDomain.safeParse('bücher.example/a').success).toBe(false);
  expect(SiteDomain.parse('bücher.example')).toBe('xn--bcher-kva.example');
});
