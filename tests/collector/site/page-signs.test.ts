import { describe, expect, test } from 'vitest';
import { imprintCompanyOf, leadsToImprint } from '#domain/shapes/imprint.ts';
import { legalNameOf, siteProfileOf } from '#domain/shapes/site-profile.ts';
import { decodeHtml, isHtml, readPageSigns } from '#services/collector/read-page-signs.ts';
import { choosePages, isHostOf } from '#services/collector/site/choose-pages.ts';

const SCOPE = {
  domain: 'shop.example',
  pageUrl: 'https://shop.example/',
  observedAt: '2026-05-01T08:00:00.000Z',
};
const profile = (html: string) => siteProfileOf(readPageSigns(html), SCOPE);
const ld = (value: unknown): string => `<script type="application/ld+json">${JSON.stringify(value)}</script>`;

describe('the signs of a page', () => {
  test('are its head, links, headings, buttons and visible lines', () => {
    const signs = readPageSigns(`<html lang="de-DE"><head><title> A
      title </title><meta property="og:title" content="x"><link rel="Canonical" href="/a"></head><body>
      <h1>One <b>heading</b></h1><p>First<br>second &amp; third</p><script>hidden()</script>
      <a class="btn-primary" href="/buy">Buy <i>now</i></a><button>Add</button><input type="submit" value="Send">
      <noscript><a href="/no">No</a></noscript>`);
    expect(signs).toMatchObject({
      title: 'A title',
      language: 'de-DE',
      canonical: '/a',
      headings: ['One heading'],
      ctaTexts: ['Buy now', 'Add', 'Send'],
      links: [{ href: '/buy', text: 'Buy now' }],
      lines: ['One heading', 'First', 'second & third', 'Buy now', 'Add'],
    });
    expect(signs.meta['og:title']).toEqual(['x']);
  });

  test('are read from a page that is nested 100,000 deep, broken or empty', () => {
    expect(readPageSigns(`<h1>Top</h1>${'<div>'.repeat(100_000)}end`).headings).toEqual(['Top']);
    expect(readPageSigns(`${'<div>'.repeat(900)}end`).lines).toEqual(['end']);
    expect(readPageSigns('<a href="/x">'.repeat(50_000)).links.length).toBeLessThanOrEqual(3_000);
    expect(readPageSigns('<html><title>cut off').title).toBe('cut off');
    expect(readPageSigns('')).toMatchObject({ title: null, lines: [] });
    expect(readPageSigns('<meta name="__proto__" content="x">').title).toBeNull();
  });

  test('leave out JSON-LD that is not JSON', () => {
    expect(readPageSigns('<script type="application/ld+json">{ "name": </script>').jsonLd).toEqual([]);
  });
});

test('a page is decoded by its header, then by its declaration, and by an unknown name as UTF-8', () => {
  const latin = Buffer.from('<meta charset="iso-8859-1">caf\xe9', 'latin1');
  expect(decodeHtml(latin, 'text/html')).toContain('café');
  expect(decodeHtml(Buffer.from('café'), 'text/html; charset=UTF-8')).toBe('café');
  expect(decodeHtml(Buffer.from('café'), 'text/html; charset=martian')).toBe('café');
  expect(isHtml('application/json', latin)).toBe(false);
  expect(isHtml('', Buffer.from('<!DOCTYPE html>'))).toBe(true);
});

describe('the profile of a brand', () => {
  test('comes from JSON-LD, then Open Graph, then meta elements', () => {
    const organisation = {
      '@graph': [
        {
          '@type': ['Organization', 'Brand'],
          name: ' The   Shop ',
          legalName: 'Shop GmbH',
          logo: { url: '/logo.png' },
          address: { addressCountry: 'de' },
        },
      ],
    };
    const html = `${ld(organisation)}<meta property="og:site_name" content="Other"><meta name="description" content="Things">`;
    expect(profile(html)).toEqual({
      type: 'brand.profile',
      domain: 'shop.example',
      observed_at: SCOPE.observedAt,
      name: 'The Shop',
      description: 'Things',
      url: 'https://shop.example/',
      logo_url: 'https://shop.example/logo.png',
      country: 'DE',
      category_path: null,
      is_public: null,
      indexable: null,
    });
    expect(legalNameOf(readPageSigns(html))).toBe('Shop GmbH');
    expect(profile('<meta property="og:site_name" content="Shop">')).toMatchObject({ name: 'Shop' });
  });

  test('is unknown without a name: a title is none', () => {
    expect(profile('<title>Shop | 20 % off</title>')).toBeNull();
    expect(profile(ld({ '@type': 'Product', name: 'Shoe' }))).toBeNull();
  });

  test('ignores wrong types, script addresses and a country by name', () => {
    const html = ld({
      '@type': 'Store',
      name: ['Shop'],
      logo: 'javascript:alert(1)',
      description: 7,
      address: [{ addressCountry: 'Germany' }],
    });
    expect(profile(html)).toMatchObject({ name: 'Shop', logo_url: null, description: null, country: null });
  });
});

describe('the company of an imprint', () => {
  const company = (html: string) => imprintCompanyOf(readPageSigns(html));
  test.each([
    [
      '<h1>Impressum</h1><p>Schuh &amp; Söhne GmbH &amp; Co. KG<br>Hauptstr. 1</p>',
      'Schuh & Söhne GmbH & Co. KG',
    ],
    ['<p>Company: Shop Ltd, 1 High Street</p>', 'Shop Ltd'],
    ['<p>Éditeur du site : Boutique SAS</p>', 'Boutique SAS'],
    ['<p>Webdesign: Agentur Schön GmbH</p><p>Shop GmbH</p>', null],
    ['<p>Jane Doe</p>', null],
    ['<p>GmbH</p>', null],
  ])('%s is %s', (html, name) => {
    expect(company(html)).toBe(name);
  });

  test.each([
    ['/pages/impressum', 'x', true],
    ['/x', 'Mentions légales', true],
    ['/policies/legal-notice', '', true],
    ['/imprinted-shirts', 'Imprinted shirts', false],
  ])('a link to %s with the text %s leads to it: %s', (href, text, leads) => {
    expect(leadsToImprint({ href, text })).toBe(leads);
  });
});

test('a page of each kind is chosen, on the host of the home page only', () => {
  const links = [
    { href: '/products/shoe#top', text: 'Shoe' },
    { href: '/products/other', text: 'Other' },
    { href: 'https://elsewhere.example/collections/all', text: 'All' },
    { href: '/collections/all', text: 'All' },
    { href: '/impressum', text: 'Impressum' },
    { href: 'mailto:a@shop.example', text: 'Contact' },
    { href: '/pages/about', text: 'About' },
  ];
  expect(
    choosePages(new URL('https://www.shop.example/'), links).map(({ url }) => new URL(url).pathname),
  ).toEqual(['/impressum', '/products/shoe', '/collections/all', '/pages/about']);
  expect(
    ['www.shop.example', 'shop.example', 'example', 'ashop.example'].map((host) =>
      isHostOf(host, 'shop.example'),
    ),
  ).toEqual([true, true, false, false]);
});
