import { metadataOf } from '#tests/dsl/metadata.ts';
import { describe, expect, test } from 'vitest';
import { landingPageStream } from '#contracts/events/corpus/landing-page.ts';
import { landingPageOf } from '#contracts/values/links/landing-pages.ts';
import {
  addressOf,
  landingPage,
  recordPageClassification,
  recordPageScrape,
} from '#domain/corpus/landing-page.ts';
import { on } from '#tests/dsl/api.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { APPAREL_ID, type CorpusBrand, registered, seedBrand } from '../fixtures/corpus.ts';
import { openApiStack } from '../fixtures/stack.ts';

const METADATA = metadataOf('pages');
const LEAD = 'https://shop.example.com/0';
const QUIZ = 'https://alpha.com/quiz';
const PRODUCT = 'https://www.alpha.com/products/boot?utm_source=x';
const GONE = 'https://alpha.com/gone';
const HIDDEN = 'https://hidden.com/';
const idOf = (url: string): string => landingPageOf(url)?.landing_page_id ?? '';

const scrape = async (page_url: string, observed_at: string, http_status = 200): Promise<bigint> => {
  const events = [
    ...recordPageScrape({
      type: 'landing_page.scrape',
      page_url,
      observed_at,
      http_status,
      canonical_url: 'https://alpha.com/',
      title: 'A page of alpha',
      description: 'Words.',
      language: 'en',
      headings: ['Boots'],
      cta_texts: ['Buy'],
    })(landingPage.initial),
    ...recordPageClassification({
      type: 'landing_page.classify',
      page_url,
      observed_at,
      page_type: page_url === QUIZ ? 'quiz' : 'product',
      confidence: 0.7,
    })(landingPage.initial),
  ];
  const stream = landingPageStream(addressOf({ page_url }).landing_page_id);
  return (await stack.eventStore.append(stream, -1n, events, METADATA, `scrape ${page_url}`)).position;
};

const stack = await disposeAfterAll(openApiStack());
const [opened, owned, brands] = await Promise.all([stack.api(), stack.key(), stack.seed(['alpha'])]);
const [app, key, alpha] = [opened, owned, brands[0] as CorpusBrand];
const at = '2026-05-01T00:00:00.000Z';
await seedBrand(stack.eventStore, registered('hidden.com', at, { is_public: false }));
await scrape(QUIZ, '2026-05-02T00:00:00Z');
await scrape(PRODUCT, '2026-05-03T00:00:00Z');
await scrape(GONE, '2026-05-04T00:00:00Z', 404);
await stack.projected(await scrape(HIDDEN, '2026-05-05T00:00:00Z'));

const urls = async (query: string): Promise<readonly string[]> => {
  const { data } = await on(app).get(`/v1/pages?${query}`, { key });
  return (data as { page_url: string }[]).map(({ page_url }) => page_url);
};

describe('listPages 200', () => {
  test('lists live pages on own hosts of public US brands, newest first', async () => {
    expect(await urls('')).toEqual(['https://alpha.com/products/boot', QUIZ]);
  });
  test('includes pages on other hosts that the ads of a brand lead to, most seen first with `sort=popular`', async () => {
    const found = await urls(`brand_id=${alpha.id}&sort=popular`);
    expect(found).toHaveLength(7);
    expect(found.slice(0, 5).every((url) => url.startsWith('https://shop.example.com/'))).toBe(true);
    expect(found).not.toContain(GONE);
  });
  test('filters by category of any level, page type and part of the URL', async () => {
    expect(await urls(`category_id=${APPAREL_ID}`)).toHaveLength(7);
    expect(await urls(`category_id=${APPAREL_ID}&page_type=quiz`)).toEqual([QUIZ]);
    expect(await urls('url=/Products/')).toEqual(['https://alpha.com/products/boot']);
    expect(await urls('url=___')).toEqual([]);
    expect(await urls('category_id=00000000-0000-4000-8000-000000000000')).toEqual([]);
  });
  test('returns each item once over all pages', async () => {
    const first = await on(app).get(`/v1/pages?limit=1`, { key });
    const second = await on(app).get(`/v1/pages?limit=1&cursor=${first.meta.cursor}`, { key });
    expect(second.data).toMatchObject([{ page_url: QUIZ }]);
    expect(second.meta.cursor).toBeUndefined();
  });
});

describe('listPages 400', () => {
  test.each(['page_type=funnel', 'sort=oldest', 'brand_id=alpha', 'url=ab', 'url=a%00bc', 'limit=101'])(
    'rejects %s',
    async (query) => {
      expect((await on(app).get(`/v1/pages?${query}`, { key })).status).toBe(400);
    },
  );
});

describe('getPage 200', () => {
  test('returns the scraped and classified data of a page', async () => {
    const { data, meta } = await on(app).get(`/v1/pages/${idOf(PRODUCT)}`, { key });
    expect(data).toMatchObject({
      page_url: 'https://alpha.com/products/boot',
      title: 'A page of alpha',
      page_type: 'product',
      live: true,
      brand: { id: alpha.id },
      headings: ['Boots'],
      http_status: 200,
    });
    expect(meta.as_of).toBe('2026-05-03T00:00:00.000Z');
  });
  test('returns null for unread fields of a page that is known only from ads', async () => {
    const { data } = await on(app).get(`/v1/pages/${idOf(LEAD)}`, { key });
    expect(data).toMatchObject({
      total_ads: 1,
      active_ads: 0,
      title: null,
      page_type: null,
      headings: null,
      scraped_at: null,
      brand: null,
      brands: [{ brand: { id: alpha.id }, active_ads: 0, total_ads: 1 }],
    });
  });
  test('returns a page that no longer exists on its site', async () => {
    expect((await on(app).get(`/v1/pages/${idOf(GONE)}`, { key })).data).toMatchObject({ live: false });
  });
});

describe('getPage 404', () => {
  test.each([
    ['a page nobody met', idOf('https://nobody.example')],
    ['a page of a brand that is not public', idOf(HIDDEN)],
  ])('rejects %s', async (_case, id) => {
    expect((await on(app).get(`/v1/pages/${id}`, { key })).status).toBe(404);
  });
});

describe('listPageDetails 200', () => {
  test('omits unknown and non-public ids, and returns each page once', async () => {
    const asked = [idOf(QUIZ), idOf(LEAD), idOf(HIDDEN), idOf('https://nobody.example'), idOf(QUIZ)];
    const ids = [...asked, idOf(LEAD).toUpperCase()];
    const { data } = await on(app).get(`/v1/page-details?ids=${ids.join(',')}`, { key });
    expect((data as { id: string }[]).map(({ id }) => id)).toEqual([idOf(QUIZ), idOf(LEAD)].toSorted());
  });
  test('accepts up to 100 ids', async () => {
    const ids = Array.from({ length: 100 }, (_, n) => idOf(`https://nobody.example/${n}`));
    expect((await on(app).get(`/v1/page-details?ids=${ids.join(',')}`, { key })).data).toEqual([]);
  });
});

describe('listPageDetails 400', () => {
  test('rejects 101 ids', async () => {
    const ids = Array.from({ length: 101 }, (_, n) => idOf(`https://nobody.example/${n}`));
    const { status, error } = await on(app).get(`/v1/page-details?ids=${ids.join(',')}`, { key });
    expect(status).toBe(400);
    expect(error.details).toMatchObject([{ path: 'ids' }]);
  });
  test.each(['', '?ids=', '?ids=alpha', `?ids=${idOf(QUIZ)},`])('rejects %j', async (query) => {
    expect((await on(app).get(`/v1/page-details${query}`, { key })).status).toBe(400);
  });
});
