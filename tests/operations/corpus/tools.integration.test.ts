import { describe, expect, test } from 'vitest';
import { brandIdOf, derivedId } from '#domain/ids.ts';
import { on } from '#tests/dsl/api.ts';
import {
  brandEvent,
  siteEvents,
  siteScan,
  siteSplitTest,
  siteTool,
  trafficEvent,
} from '#tests/dsl/site-events.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { APPAREL, registered } from '../fixtures/corpus.ts';
import { seedEvents } from '../fixtures/site-corpus.ts';
import { BASE_URL, openApiStack } from '../fixtures/stack.ts';

const AB = 'A/B testing';
const [PIXEL, CHAT, ARMS, DARK] = [
  siteTool('pixel'),
  siteTool('chat', 'Live chat'),
  siteTool('arms', AB),
  siteTool('dark', AB),
];

const stack = await disposeAfterAll(openApiStack());
const [app, key, brands] = await Promise.all([
  stack.api(),
  stack.key(),
  stack.seed(['alpha', 'beta', 'gamma', 'delta', 'omega']),
]);
const at = '2026-05-02T08:00Z';
await seedEvents(stack, [
  brandEvent(registered('hidden.com', '2026-05-01T00:00:00.000Z', { is_public: false })),
  ...siteEvents(
    siteScan('alpha.com', at, {
      tools: [CHAT, PIXEL, ARMS],
      split_test_tools: [{ slug: 'arms', readable: true }],
      split_tests: [siteSplitTest('arms', '1'), siteSplitTest('arms', '2', { type: 'rollout' })],
    }),
    siteScan('beta.com', at, {
      tools: [PIXEL, ARMS, DARK],
      split_test_tools: [
        { slug: 'arms', readable: true },
        { slug: 'dark', readable: false },
      ],
      split_tests: [siteSplitTest('arms', '1', { type: 'personalization' })],
    }),
    siteScan('gamma.com', '2026-05-03T08:00Z', { tools: [PIXEL] }),
    siteScan('delta.com', '2026-05-01T08:00Z'),
    siteScan('hidden.com', at, { tools: [PIXEL, CHAT, siteTool('secret')] }),
  ),
  trafficEvent('alpha.com', '2026-04-01', {
    monthly_visits: 40_000,
    countries: [{ country: 'US', share: 0.7 }],
  }),
  trafficEvent('beta.com', '2026-04-01', {
    monthly_visits: 90_000,
    countries: [{ country: 'CA', share: 0.7 }],
  }),
]);

const slugsOf = (data: unknown): readonly string[] => (data as { slug: string }[]).map(({ slug }) => slug);
const brandsOf = (data: unknown): readonly string[] =>
  (data as { brand: { slug: string } }[]).map(({ brand }) => brand.slug);

describe('getBrandTechStack 200', () => {
  test('sorts by tool category and name, with URLs of this service', async () => {
    const { data, meta } = await on(app).get('/v1/brands/alpha/tech-stack', { key });
    expect(slugsOf(data)).toEqual(['arms', 'pixel', 'chat']);
    expect((data as object[])[0]).toEqual({
      slug: 'arms',
      name: 'The arms',
      category: AB,
      website_url: 'https://arms.example/',
      url: `${BASE_URL}/v1/tools/arms`,
    });
    expect(meta.as_of).toBe('2026-05-02T08:00:00.000Z');
  });

  test('returns an empty list when a scan found no tool and when there was no scan', async () => {
    const bare = await on(app).get('/v1/brands/delta/tech-stack', { key });
    expect(bare.data).toEqual([]);
    expect(bare.meta.as_of).toBe('2026-05-01T08:00:00.000Z');
    const never = await on(app).get('/v1/brands/omega/tech-stack', { key });
    expect(never.data).toEqual([]);
    expect(never.meta.as_of).not.toBe(bare.meta.as_of);
  });

  test('returns the tools of a brand that is not public', async () => {
    const { data } = await on(app).get(`/v1/brands/${brandIdOf('hidden.com')}/tech-stack`, { key });
    expect(slugsOf(data)).toEqual(['pixel', 'secret', 'chat']);
  });
});

describe('listTools 200', () => {
  test('lists tools of public brands, most adopted first, over all pages', async () => {
    const seen: { slug: string; brands: number }[] = [];
    let cursor = '';
    do {
      const { data, meta } = await on(app).get(`/v1/tools?limit=1${cursor}`, { key });
      seen.push(...(data as { slug: string; brands: number }[]));
      cursor = meta.cursor === undefined ? '' : `&cursor=${meta.cursor}`;
      expect(meta.as_of).toBe('2026-05-03T08:00:00.000Z');
    } while (cursor);
    expect(seen.map(({ slug, brands: count }) => `${slug} ${count}`)).toEqual([
      'pixel 3',
      'arms 2',
      'dark 1',
      'chat 1',
    ]);
  });

  test('filters by category regardless of case', async () => {
    const { data } = await on(app).get('/v1/tools?category=a%2Fb%20TESTING', { key });
    expect(slugsOf(data)).toEqual(['arms', 'dark']);
  });
});

describe('listTools 400', () => {
  test.each(['limit=0', 'category=', 'cursor=altered', 'country=US'])('rejects %s', async (query) => {
    expect((await on(app).get(`/v1/tools?${query}`, { key })).status).toBe(400);
  });
});

describe('getTool 200', () => {
  test('returns a tool by slug or uuid, with adoption, combinations and traffic', async () => {
    const { data } = await on(app).get('/v1/tools/arms', { key });
    expect(data).toEqual({
      id: derivedId('tool', 'arms'),
      slug: 'arms',
      name: 'The arms',
      category: AB,
      website_url: 'https://arms.example/',
      url: `${BASE_URL}/v1/tools/arms`,
      brands: 2,
      adoption_by_category: [{ category: APPAREL, brands: 2, scanned_brands: 4, share: 0.5 }],
      common_combinations: [
        { tool: expect.objectContaining({ slug: 'pixel' }), brands: 2, share: 1 },
        { tool: expect.objectContaining({ slug: 'chat' }), brands: 1, share: 0.5 },
        { tool: expect.objectContaining({ slug: 'dark' }), brands: 1, share: 0.5 },
      ],
      traffic_split: [
        { visits_from: 0, visits_to: 10_000, brands: 0 },
        { visits_from: 10_000, visits_to: 100_000, brands: 2 },
        { visits_from: 100_000, visits_to: 1_000_000, brands: 0 },
        { visits_from: 1_000_000, visits_to: 10_000_000, brands: 0 },
        { visits_from: 10_000_000, visits_to: null, brands: 0 },
        { visits_from: null, visits_to: null, brands: 0 },
      ],
    });
    expect((await on(app).get(`/v1/tools/${derivedId('tool', 'arms')}`, { key })).data).toEqual(data);
  });
});

describe('listToolBrands 200', () => {
  test('sorts public brands by monthly visits, unknown visits last, over all pages', async () => {
    const first = await on(app).get('/v1/tools/pixel/brands?limit=2', { key });
    expect(brandsOf(first.data)).toEqual(['beta', 'alpha']);
    expect((first.data as object[])[1]).toMatchObject({
      rank: 2,
      monthly_visits: 40_000,
      estimated_for: '2026-04-01',
      top_country: 'US',
      detected_at: '2026-05-02T08:00:00.000Z',
      missing_since: null,
    });
    const rest = await on(app).get(`/v1/tools/pixel/brands?limit=2&cursor=${first.meta.cursor}`, { key });
    expect(rest.data).toMatchObject([
      { rank: 3, brand: { id: brands[2]?.id }, monthly_visits: null, estimated_for: null, top_country: null },
    ]);
    expect(rest.meta.cursor).toBeUndefined();
  });

  test('filters by top country', async () => {
    const of = async (country: string) =>
      brandsOf((await on(app).get(`/v1/tools/pixel/brands?country=${country}`, { key })).data);
    expect(await of('CA')).toEqual(['beta']);
    expect(await of('DE')).toEqual([]);
  });

  test('returns an empty list for a tool that only non-public brands use', async () => {
    expect((await on(app).get('/v1/tools/secret/brands', { key })).data).toEqual([]);
  });
});

describe('listToolBrands 400', () => {
  test.each(['country=us', 'limit=101', 'sort=name'])('rejects %s', async (query) => {
    expect((await on(app).get(`/v1/tools/pixel/brands?${query}`, { key })).status).toBe(400);
  });
});

describe('getSplitTestCensus 200', () => {
  test('returns null counts for a tool that is not read, and experiments only for a tool that is', async () => {
    const { data, meta } = await on(app).get('/v1/split-test-census', { key });
    expect(data).toEqual([
      {
        tool: expect.objectContaining({ slug: 'arms' }),
        is_read: true,
        brands_installed: 2,
        brands_read: 2,
        brands_running: 1,
      },
      {
        tool: expect.objectContaining({ slug: 'dark' }),
        is_read: false,
        brands_installed: 1,
        brands_read: null,
        brands_running: null,
      },
    ]);
    expect(meta.as_of).toBe('2026-05-03T08:00:00.000Z');
  });
});
