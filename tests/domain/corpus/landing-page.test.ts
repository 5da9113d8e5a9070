import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LandingPageEvent, ScrapedPage } from '#contracts/events/corpus/landing-page.ts';
import { landingPageOf, PAGE_TYPES } from '#contracts/values/links/landing-pages.ts';
import { Observation } from '#contracts/observations/index.ts';
import type { LandingPageClassify, LandingPageScrape } from '#contracts/observations/landing-page.ts';
import {
  addressOf,
  landingPage,
  recordPageClassification,
  recordPageScrape,
} from '#domain/corpus/landing-page.ts';
import { given } from '#tests/dsl/deciders.ts';

const URL_TEXT = 'https://www.shop.example/products/boot?utm_source=social&variant=2';
const { landing_page_id, page_url } = addressOf({ page_url: URL_TEXT });

const scrape = (day: number, more: Partial<LandingPageScrape> = {}): LandingPageScrape => ({
  type: 'landing_page.scrape',
  page_url: URL_TEXT,
  observed_at: `2026-05-${String(day).padStart(2, '0')}T10:00:00Z`,
  http_status: 200,
  canonical_url: null,
  title: 'A boot',
  description: null,
  language: 'en-US',
  headings: ['Cove boot'],
  cta_texts: null,
  ...more,
});
type ScrapedField = keyof ScrapedPage;
const scraped = (day: number, changes: object, confirmed?: readonly ScrapedField[]): LandingPageEvent => ({
  type: 'LandingPageScraped',
  data: {
    landing_page_id,
    page_url,
    observed_at: scrape(day).observed_at,
    changes,
    ...(confirmed && { confirmed }),
  },
});
const classify = (day: number, more: Partial<LandingPageClassify> = {}): LandingPageClassify => ({
  type: 'landing_page.classify',
  page_url: URL_TEXT,
  observed_at: scrape(day).observed_at,
  page_type: 'product',
  confidence: 0.9,
  ...more,
});
const classified = (day: number, more: object = {}): LandingPageEvent => ({
  type: 'LandingPageClassified',
  data: {
    landing_page_id,
    page_url,
    observed_at: scrape(day).observed_at,
    page_type: 'product',
    confidence: 0.9,
    ...more,
  },
});
const FIRST = { http_status: 200, title: 'A boot', language: 'en-US', headings: ['Cove boot'] };

describe('recordPageScrape', () => {
  test('records the stated fields', () =>
    given(landingPage)
      .when(recordPageScrape(scrape(2)))
      .records(scraped(2, FIRST)));
  test('records a first scrape without any field', () =>
    given(landingPage)
      .when(recordPageScrape(scrape(2, { http_status: null, title: null, language: null, headings: null })))
      .records(scraped(2, {})));
  test('records only the changed fields', () =>
    given(landingPage, scraped(2, FIRST))
      .when(recordPageScrape(scrape(3, { title: 'The boot', headings: [] })))
      .records(scraped(3, { title: 'The boot', headings: [] }, ['http_status', 'language'])));
  test('records that nothing changed, so that an older scrape overwrites nothing', () => {
    const again = scraped(4, {}, ['http_status', 'title', 'language', 'headings']);
    given(landingPage, scraped(2, FIRST))
      .when(recordPageScrape(scrape(4)))
      .records(again);
    given(landingPage, scraped(2, FIRST), again)
      .when(recordPageScrape(scrape(3, { title: 'Between' })))
      .records();
  });
  test('keeps a field that the scrape leaves blank', () =>
    given(landingPage, scraped(2, FIRST))
      .when(recordPageScrape(scrape(3, { title: null, http_status: 404 })))
      .records(scraped(3, { http_status: 404 }, ['language', 'headings'])));
  test('takes from an older observation its time, and only the fields that no other states', () => {
    given(landingPage, scraped(2, FIRST))
      .when(recordPageScrape(scrape(1, { title: 'Earlier' })))
      .records(scraped(1, {}, []));
    given(landingPage, scraped(2, FIRST))
      .when(recordPageScrape(scrape(1, { title: 'Earlier', description: 'Warm.' })))
      .records(scraped(1, { description: 'Warm.' }, []));
  });
});

describe('recordPageClassification', () => {
  test('records the type of a page that was never scraped', () =>
    given(landingPage)
      .when(recordPageClassification(classify(2)))
      .records(classified(2)));
  test('accepts a classification older than the last scrape', () =>
    given(landingPage, scraped(9, FIRST))
      .when(recordPageClassification(classify(2)))
      .records(classified(2)));
  test('records that nothing changed, so that an older classification overwrites nothing', () => {
    given(landingPage, classified(2))
      .when(recordPageClassification(classify(4)))
      .records(classified(4));
    given(landingPage, classified(2), classified(4))
      .when(recordPageClassification(classify(3, { page_type: 'quiz' })))
      .records();
  });
  test('records a different classification', () =>
    given(landingPage, classified(2))
      .when(recordPageClassification(classify(3, { confidence: 0.5 })))
      .records(classified(3, { confidence: 0.5 })));
  test('keeps the newest classification, and records the oldest one as a sighting', () => {
    const quiz = { page_type: 'quiz' } as const;
    given(landingPage, classified(2))
      .when(recordPageClassification(classify(1, quiz)))
      .records(classified(1, quiz));
    given(landingPage, classified(2), classified(1, quiz))
      .when(recordPageClassification(classify(2)))
      .records();
  });
});

/** Any character. `fc.webUrl` first makes a table of all characters, which takes seconds. */
const anySign = fc.oneof(
  fc.constantFrom('a', 'Z', '7', '-', '.', '_', '~', '!', '$', '+', ',', ';', '=', ':', '@', '%25', '%2F'),
  fc
    .integer({ min: 1, max: 0x10ffff })
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => encodeURIComponent(String.fromCodePoint(code))),
);
const anyPart = fc.array(anySign, { maxLength: 12 }).map((signs) => signs.join(''));
const anyLink = fc
  .tuple(
    fc.constantFrom('http', 'https'),
    fc.webAuthority({ withPort: true }),
    fc.array(anyPart, { maxLength: 5 }),
    fc.option(anyPart),
    fc.option(anyPart),
  )
  .map(([scheme, host, path, query, fragment]) =>
    [
      `${scheme}://${host}`,
      ...path.map((part) => `/${part}`),
      ...(query === null ? [] : [`?${query}`]),
      ...(fragment === null ? [] : [`#${fragment}`]),
    ].join(''),
  );

describe('landingPageOf', () => {
  const urlOf = (link: string): string | undefined => landingPageOf(link)?.page_url;

  test.each([
    ['http://shop.example/', 'https://shop.example'],
    ['https://WWW.Shop.example/a/?fbclid=1#top', 'https://shop.example/a'],
    ['shop.example/a?b=2&a=1&utm_campaign={{campaign.name}}', 'https://shop.example/a?a=1&b=2'],
    ['https://shop.example/a?ad=%7B%7Bad.id%7D%7D&v=3', 'https://shop.example/a?v=3'],
    ['https://shop.example/a?b=1?c=2', 'https://shop.example/a?b=1?c=2'],
    [
      `https://l.facebook.com/l.php?u=${encodeURIComponent('https://shop.example/x')}`,
      'https://shop.example/x',
    ],
  ])('normalizes %s to %s', (link, expected) => {
    expect(urlOf(link)).toBe(expected);
  });
  test.each([
    'https://apps.apple.com/us/app/shop/id123456',
    'https://play.google.com/store/apps/details?id=com.shop',
    'mailto:someone@shop.example',
    'javascript:alert(1)',
    'not a link',
    '{{product.url}}',
    '',
  ])('returns no address for %j', (link) => {
    expect(urlOf(link)).toBeUndefined();
  });
  test('returns the domains that may own the page, and none for a shared host', () => {
    expect(landingPageOf('https://eu.shop.example/a')?.domains).toEqual(['eu.shop.example', 'shop.example']);
    expect(landingPageOf('https://linktr.ee/shop')?.domains).toEqual([]);
  });
  test('returns the same address for its own result, for any link', () => {
    fc.assert(
      fc.property(anyLink, (link) => {
        const address = landingPageOf(link);
        if (address) expect(landingPageOf(address.page_url)).toEqual(address);
      }),
    );
  });
  test('never throws, for any text', () => {
    fc.assert(fc.property(fc.string(), (text) => void landingPageOf(text)));
  });
});

describe('the observation schema', () => {
  test.each([
    ['a page type that is not listed', classify(1, { page_type: 'funnel' as 'quiz' }), 'page_type'],
    ['a confidence over 1', classify(1, { confidence: 1.2 }), 'confidence'],
    ['a link to an app store', classify(1, { page_url: 'https://apps.apple.com/us/app/x/id1' }), 'page_url'],
    ['an invalid HTTP status', scrape(1, { http_status: 42 }), 'http_status'],
    ['a NUL character', scrape(1, { title: 'a\u0000b' }), 'title'],
    ['an invalid language', scrape(1, { language: 'english please' }), 'language'],
    [
      'a canonical address with the scheme javascript',
      scrape(1, { canonical_url: 'javascript:1' }),
      'canonical_url',
    ],
    ['an amount of money', { ...scrape(1), spend: 5 }, ''],
  ])('rejects %s', (_case, observation, path) => {
    const result = Observation.safeParse(observation);
    expect(result.error?.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
  });
  test('cuts texts and lists that are too long, and marks the cut', () => {
    const cut = Observation.parse(
      scrape(1, {
        title: 'word '.repeat(300_000),
        description: `a${'😀'.repeat(4_000)}`,
        headings: Array.from({ length: 51 }, () => 'h'.repeat(501)),
        cta_texts: Array.from({ length: 50 }, () => 'Buy'),
      }),
    ) as LandingPageScrape;
    expect(cut.title).toHaveLength(1_000);
    expect(cut.title?.endsWith('word…')).toBe(true);
    expect(cut.description).toBe(`a${'😀'.repeat(2_499)}…`);
    expect(cut.headings).toHaveLength(50);
    expect(cut.headings?.[0]).toBe(`${'h'.repeat(499)}…`);
    expect(cut.headings?.at(-1)).toBe('…');
    expect(cut.cta_texts).toEqual(Array.from({ length: 50 }, () => 'Buy'));
  });
  test('accepts each listed page type', () => {
    for (const page_type of PAGE_TYPES) {
      expect(Observation.parse(classify(1, { page_type }))).toEqual(classify(1, { page_type }));
    }
    expect(Observation.parse(scrape(1))).toEqual(scrape(1));
  });
});
