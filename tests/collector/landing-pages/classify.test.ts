import { describe, expect, test } from 'vitest';
import { landingPageClassify, landingPageScrape } from '#domain/shapes/landing-page.ts';
import { readPageSigns } from '#services/collector/read-page-signs.ts';

const visited = (path: string, html: string, status = 200) => ({
  pageUrl: `https://shop.example${path}`,
  observedAt: '2026-05-01T08:00:00.000Z',
  status,
  finalUrl: `https://www.shop.example${path}`,
  signs: readPageSigns(html),
});

describe('the type of a landing page', () => {
  test.each([
    ['/', '', 'home', 0.6],
    ['/products/shoe', '<button>Add to cart</button>', 'product', 0.6],
    ['/products/shoe', '<h1>Shoe</h1>', 'product', 0.5],
    ['/collections/all', '', 'collection', 0.5],
    ['/pages/5-reasons-why', '<h1>5 reasons to switch</h1>', 'listicle', 0.6],
    ['/pages/a', '<h1>7 Reasons people love it</h1>', 'listicle', 0.4],
    ['/pages/skin-quiz', '', 'quiz', 0.5],
    ['/blogs/news/how-we-work', '', 'article', 0.5],
    ['/cart', '<h1>Your cart</h1>', 'checkout', 0.6],
    ['/pages/black-friday', '', 'offer', 0.5],
    ['/pages/contact', '', 'lead_form', 0.5],
    ['/pages/story', '<h1>About</h1>', undefined, undefined],
  ])('%s with %s is %s at %s', (path, html, type, confidence) => {
    const found = landingPageClassify(visited(path, html));
    expect([found?.page_type, found?.confidence]).toEqual([type, confidence]);
  });

  test('is unknown for an error page, and for an answer that is not HTML', () => {
    expect(landingPageClassify(visited('/products/shoe', '', 404))).toBeNull();
    expect(landingPageClassify({ ...visited('/products/shoe', ''), signs: null })).toBeNull();
  });
});

test('a scrape has the texts of the page, and of an error page the status only', () => {
  const html =
    '<html lang="en"><title>Shoe</title><meta name="description" content="A shoe"><h1>The shoe</h1><button>Buy</button>';
  expect(landingPageScrape(visited('/products/shoe', html))).toEqual({
    type: 'landing_page.scrape',
    page_url: 'https://shop.example/products/shoe',
    observed_at: '2026-05-01T08:00:00.000Z',
    http_status: 200,
    canonical_url: 'https://www.shop.example/products/shoe',
    title: 'Shoe',
    description: 'A shoe',
    language: 'en',
    headings: ['The shoe'],
    cta_texts: ['Buy'],
  });
  expect(landingPageScrape({ ...visited('/x', ''), status: 404, signs: null })).toMatchObject({
    http_status: 404,
    title: null,
    headings: null,
  });
  expect(landingPageScrape({ ...visited('/x', '<html lang="not a language">') })).toMatchObject({
    language: null,
  });
});
