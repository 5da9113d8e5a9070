import { describe, expect, test } from 'vitest';
import { brandDomain } from '#services/collector/add/add-brand.ts';
import { captionHost, type FoundAd, proposePages } from '#domain/collecting/propose-pages.ts';

test('a domain or address names a brand, and anything else is refused', () => {
  expect(['shop.example', 'https://www.Shop.example/a?b', 'WWW.SHOP.EXAMPLE'].map(brandDomain)).toEqual(
    Array.from({ length: 3 }, () => 'shop.example'),
  );
  for (const text of ['shop', 'https://user@shop.example/', '127.0.0.1', '..', '', 'ftp://', 'a b.example']) {
    expect(() => brandDomain(text), text).toThrow(/is no domain of a brand/);
  }
});

const ads = (pageId: string, pageName: string | null, caption: string, count: number): readonly FoundAd[] =>
  Array.from({ length: count }, (_, index) => ({
    adId: `${pageId}-${index}`,
    pageId,
    pageName,
    captions: [caption],
  }));
const BRAND = { domain: 'shop.example', name: 'Café Shop' };

test.each([
  ['shop.example', 'shop.example'],
  [' WWW.Shop.Example/Sale ', 'shop.example'],
  ['https://shop.example?x', 'shop.example'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['BÜCHER.example/Neu', 'xn--bcher-kva.example'],
  ['XN--BCHER-KVA.example', 'xn--bcher-kva.example'],
  // The first letter is Cyrillic.
  ['ѕhop.example', 'xn--hop-ehd.example'],
  ['shop.example@other.example', null],
  ['Shop now', null],
  ['', null],
  ['..', null],
])('the caption "%s" names the host %s', (caption, host) => {
  expect(captionHost(caption)).toBe(host);
});

describe('a page is proposed', () => {
  test('by its captions, and is certain by the name of the brand with three ads', () => {
    const found = [
      ...ads('10001', 'cafe shop', 'shop.example', 3),
      ...ads('10002', 'Café Shop', 'www.shop.example', 2),
      ...ads('10003', 'Fan Page', 'de.shop.example', 9),
      ...ads('10004', 'SHOP.EXAMPLE', 'shop.example', 4),
      ...ads('10005', 'Café Shop', 'othershop.example', 9),
      ...ads('10006', null, 'shop.example', 5),
    ];
    expect(
      proposePages(found, BRAND).map(({ pageId, ads: count, isCertain }) => [pageId, count, isCertain]),
    ).toEqual([
      ['10003', 9, false],
      ['10006', 5, false],
      ['10004', 4, true],
      ['10001', 3, true],
      ['10002', 2, false],
    ]);
  });

  test('by captions in its own script, and never by look-alikes of its domain', () => {
    const books = { domain: brandDomain('bücher.example'), name: 'Bücher' };
    expect(books.domain).toBe('xn--bcher-kva.example');
    const found = [
      ...ads('10001', 'Bücher', 'bücher.example', 3),
      ...ads('10002', 'Bücher', 'www.xn--bcher-kva.example', 3),
      ...ads('10003', 'Bücher', 'bucher.example', 9),
    ];
    expect(proposePages(found, books).map(({ pageId, isCertain }) => [pageId, isCertain])).toEqual([
      ['10001', true],
      ['10002', true],
    ]);
    const lookAlikes = [
      ...ads('10004', 'Café Shop', 'ѕhop.example', 9),
      ...ads('10005', 'Café Shop', 'shop.ехample', 9),
      ...ads('10006', 'Саfé Shop', 'shop.example', 9),
    ];
    expect(proposePages(lookAlikes, BRAND)).toMatchObject([{ pageId: '10006', isCertain: false }]);
  });

  test('once for an ad that two searches found', () => {
    const twice = [
      ...ads('10001', 'Café Shop', 'shop.example', 2),
      ...ads('10001', 'Café Shop', 'shop.example', 2),
    ];
    expect(proposePages(twice, BRAND)).toMatchObject([{ ads: 2, isCertain: false }]);
  });

  test('and never certain by another name when the site states none', () => {
    const found = ads('10001', 'Café Shop', 'shop.example', 5);
    expect(proposePages(found, { ...BRAND, name: null })).toMatchObject([{ isCertain: false }]);
  });
});
