import { metadataOf } from '#tests/dsl/metadata.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { categoryStream } from '#contracts/events/corpus/category.ts';
import type { Event } from '#contracts/events/event.ts';
import { landingPageStream } from '#contracts/events/corpus/landing-page.ts';
import { type SiteEvent, siteStream } from '#contracts/events/corpus/site.ts';
import { category, defineCategory } from '#domain/corpus/category.ts';
import { brandIdOf, categoryIdOf, derivedId } from '#domain/ids.ts';
import { landingPage, recordPageClassification } from '#domain/corpus/landing-page.ts';
import { on } from '#tests/dsl/api.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { BASE_URL, openApiStack } from '../fixtures/stack.ts';
import { OBSERVED_AT, seedSites } from '../fixtures/traffic-corpus.ts';

const APPAREL = categoryIdOf(['Apparel']);
const SHOES = categoryIdOf(['Apparel', 'Shoes']);
const NOWHERE = brandIdOf('nowhere.example');
const DEFINED_AT = '2026-05-02T00:00:00.000Z';

const METADATA = metadataOf('categories');

const append = async (stream: string, events: readonly Event[]): Promise<bigint> =>
  (await stack.eventStore.append(stream, -1n, events, METADATA, stream)).position;

const stack = await disposeAfterAll(openApiStack());
const [app, key] = await Promise.all([stack.api(), stack.key()]);
const [event] = defineCategory({
  type: 'category.define',
  observed_at: DEFINED_AT,
  path: ['Vehicles', 'Shoes'],
  level: 2,
  taxonomy: null,
  taxonomy_id: null,
  description: 'Brake shoes.',
})(category.initial);
if (!event) throw new Error('nothing was defined');
await append(categoryStream(event.data.category_id), [event]);
await seedSites(stack, [
  {
    domain: 'alpha.com',
    path: ['Apparel', 'Shoes', 'Boots'],
    months: { '2026-05-01': { monthly_visits: 1_000 } },
  },
  { domain: 'beta.com', path: ['Apparel', 'Hats'] },
  { domain: 'secret.com', path: ['Apparel', 'Hats'], is_public: false },
]);

const read = async (path: string) => {
  const reply = await on(app).get(path, { key });
  expect(reply.status).toBe(200);
  return { ...reply, data: reply.data as unknown as Record<string, unknown>[] };
};

describe('getCategory 200', () => {
  test('returns a category of any level, with its parent and totals', async () => {
    const top = await read(`/v1/categories/${APPAREL}`);
    expect(top.data).toEqual({
      id: APPAREL,
      slug: 'apparel',
      name: 'Apparel',
      url: `${BASE_URL}/v1/categories/${APPAREL}`,
      level: 1,
      parent: null,
      description: null,
      children: 2,
      totals: { brands: 2, active_ads: 0, total_ads: 0, brands_with_traffic: 1, monthly_visits: 1_000 },
      as_of: OBSERVED_AT,
    });
    expect(top.meta.as_of).toBe(OBSERVED_AT);
    const leaf = await read(`/v1/categories/${categoryIdOf(['Apparel', 'Shoes', 'Boots'])}`);
    expect(leaf.data).toMatchObject({ level: 3, parent: { id: SHOES, slug: 'shoes', name: 'Shoes' } });
    const unseen = await read(`/v1/categories/${categoryIdOf(['Vehicles', 'Shoes'])}`);
    expect(unseen.data).toMatchObject({
      description: 'Brake shoes.',
      totals: { brands: 0, monthly_visits: null },
      as_of: null,
    });
  });
});

describe('listCategories 200', () => {
  const slugs = async (query: string): Promise<unknown[]> =>
    (await read(`/v1/categories?${query}`)).data.map(({ slug, level }) => [slug, level].join(' '));

  test('lists the top level, the children of a category, and categories of any level by slug', async () => {
    expect(await slugs('')).toEqual(['apparel 1', 'vehicles 1']);
    expect(await slugs(`parent_id=${APPAREL}`)).toEqual(['hats 2', 'shoes 2']);
    expect(await slugs(`parent_id=${NOWHERE}`)).toEqual([]);
    expect(await slugs('slug=shoes')).toEqual(['shoes 2', 'shoes 2']);
    expect(await slugs(`slug=shoes&parent_id=${APPAREL}`)).toEqual(['shoes 2']);
    expect(await slugs('slug=boots')).toEqual(['boots 3']);
  });

  test('returns each item once over all pages', async () => {
    const first = await read('/v1/categories?limit=1');
    const second = await read(`/v1/categories?limit=1&cursor=${first.meta.cursor}`);
    expect([...first.data, ...second.data].map(({ slug }) => slug)).toEqual(['apparel', 'vehicles']);
    expect(second.meta.cursor).toBeUndefined();
  });
});

describe('listCategories 400', () => {
  test.each([
    ['parent_id=apparel', 'parent_id'],
    ['slug=Shoes', 'slug'],
    ['slug=', 'slug'],
    ['level=1', 'level'],
    ['limit=0', 'limit'],
    ['cursor=altered', 'cursor'],
  ])('rejects %s', async (query, path) => {
    const reply = await on(app).get(`/v1/categories?${query}`, { key });
    expect(reply.status).toBe(400);
    expect(reply.error.details).toMatchObject([{ path }]);
  });
});

describe('listCategorySitemap 200', () => {
  test('lists categories of every level with a public brand, over all pages', async () => {
    const seen: Record<string, unknown>[] = [];
    let cursor = '';
    do {
      const { data, meta } = await read(`/v1/categories/sitemap?limit=3${cursor}`);
      seen.push(...data);
      cursor = meta.cursor === undefined ? '' : `&cursor=${meta.cursor}`;
    } while (cursor);
    expect(seen.map(({ slug }) => String(slug)).toSorted()).toEqual(['apparel', 'boots', 'hats', 'shoes']);
    expect(seen.find(({ slug }) => slug === 'apparel')).toEqual({
      slug: 'apparel',
      url: `${BASE_URL}/v1/categories/${APPAREL}`,
      updated_at: OBSERVED_AT,
    });
  });
});

describe('getCategoryStats 200', () => {
  const toolOf = (slug: string) => ({
    tool_id: derivedId('tool', slug),
    slug,
    name: `The "${slug}"`,
    category: 'Analytics',
    website_url: null,
    split_testing: false,
  });
  const detected = (domain: string, slugs: readonly string[]): SiteEvent => ({
    type: 'ToolsDetected',
    data: {
      brand_id: brandIdOf(domain),
      domain,
      observed_at: OBSERVED_AT,
      novelty: 'baseline',
      tools: slugs.map(toolOf),
    },
  });
  const gone: SiteEvent = {
    type: 'ToolsGone',
    data: {
      brand_id: brandIdOf('beta.com'),
      domain: 'beta.com',
      observed_at: OBSERVED_AT,
      tools: [{ slug: 'left', missing_since: OBSERVED_AT }],
    },
  };
  const classified = recordPageClassification({
    type: 'landing_page.classify',
    page_url: 'https://shop.example.com/2',
    observed_at: OBSERVED_AT,
    page_type: 'quiz',
    confidence: 0.8,
  })(landingPage.initial);

  beforeAll(async () => {
    await stack.seed(['zeta']);
    await append(siteStream('alpha.com'), [detected('alpha.com', ['both', 'one'])]);
    await append(siteStream('beta.com'), [detected('beta.com', ['both', 'left']), gone]);
    await append(siteStream('secret.com'), [detected('secret.com', ['one', 'hidden'])]);
    const id = classified[0]?.data.landing_page_id ?? '';
    await stack.projected(await append(landingPageStream(id), classified));
  });

  test('aggregates the public brands of a category and of its descendants', async () => {
    const pages = await read(`/v1/pages?category_id=${APPAREL}&limit=100`);
    expect(pages.data.length).toBeGreaterThan(2);
    const { data } = await read(`/v1/categories/${APPAREL}/stats`);
    const reference = (slug: string) => ({
      id: derivedId('tool', slug),
      slug,
      name: `The "${slug}"`,
      category: 'Analytics',
      website_url: null,
      url: `${BASE_URL}/v1/tools/${slug}`,
    });
    expect(data).toEqual({
      category: { id: APPAREL, slug: 'apparel', name: 'Apparel' },
      brands: 3,
      landing_urls: pages.data.length,
      brands_with_traffic: 1,
      monthly_visits: 1_000,
      top_page_types: [{ page_type: 'quiz', landing_urls: 1 }],
      top_tools: [
        { tool: reference('both'), brands: 2 },
        { tool: reference('one'), brands: 1 },
      ],
    });
    expect((await read(`/v1/categories/${categoryIdOf(['Apparel', 'Hats'])}/stats`)).data).toMatchObject({
      brands: 1,
      landing_urls: 0,
      monthly_visits: null,
      top_page_types: [],
      top_tools: [{ tool: { slug: 'both' }, brands: 1 }],
    });
    expect((await read(`/v1/categories/${categoryIdOf(['Vehicles'])}/stats`)).data).toMatchObject({
      brands: 0,
      top_tools: [],
    });
  });
});
