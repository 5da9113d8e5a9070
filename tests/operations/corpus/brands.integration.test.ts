import { describe, expect, test } from 'vitest';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { Brand } from '#contracts/resources/corpus/brand.ts';
import { brandIdOf } from '#domain/ids.ts';
import { on } from '#tests/dsl/api.ts';
import type { GivenEvent } from '#tests/dsl/projections.ts';
import { at, brand, scanned } from '#tests/projections/fixtures/network-events.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { APPAREL_ID, type CorpusBrand, registered } from '../fixtures/corpus.ts';
import { seedEvents } from '../fixtures/site-corpus.ts';
import { BASE_URL, openApiStack } from '../fixtures/stack.ts';

const stack = await disposeAfterAll(openApiStack());
const [app, key, brands] = await Promise.all([
  stack.api(),
  stack.key(),
  stack.seed(['alpha', 'beta', 'bravo']),
]);
const alpha = brands[0] as CorpusBrand;

describe('getBrand 200', () => {
  test('returns a brand by uuid and by slug, with freshness and URLs of this service', async () => {
    const byId = await on(app).get(`/v1/brands/${alpha.id}`, { key });
    const bySlug = await on(app).get(`/v1/brands/${alpha.slug}`, { key });
    expect(byId.status).toBe(200);
    expect(bySlug.data).toEqual(byId.data);
    expect(byId.data).toMatchObject({
      id: alpha.id,
      slug: alpha.slug,
      url: `${BASE_URL}/v1/brands/${alpha.slug}`,
      active_ads: 3,
      total_ads: 4,
      inactive_ads: 1,
    });
    expect(byId.meta.freshness).toMatchObject({ freshness_tier: 'census', as_of: byId.meta.as_of });
  });

  test('returns the fields in the order of the specification', async () => {
    const { data } = await on(app).get(`/v1/brands/${alpha.slug}`, { key });
    const { category, ...others } = data as { category: object };
    expect(Object.keys(others)).toEqual(Object.keys(Brand.shape).filter((name) => name !== 'category'));
    expect(Object.keys(category)).toEqual(['id', 'slug', 'name']);
  });
});

describe('listBrands 200', () => {
  test('lists each brand once over all pages', async () => {
    const seen: string[] = [];
    let cursor = '';
    do {
      const { data, meta } = await on(app).get(`/v1/brands?limit=1&sort=name${cursor}`, { key });
      seen.push(...(data as { slug: string }[]).map(({ slug }) => slug));
      cursor = meta.cursor === undefined ? '' : `&cursor=${meta.cursor}`;
    } while (cursor);
    expect(seen).toEqual(brands.map(({ slug }) => slug));
  });

  test('filters by letter, name, country and category', async () => {
    const slugsOf = async (query: string): Promise<string[]> =>
      ((await on(app).get(`/v1/brands?sort=name&${query}`, { key })).data as { slug: string }[]).map(
        ({ slug }) => slug,
      );
    expect(await slugsOf('letter=b')).toEqual(['beta', 'bravo']);
    expect(await slugsOf('q=RAV')).toEqual(['bravo']);
    expect(await slugsOf('country=DE')).toEqual([]);
    expect(await slugsOf(`category_id=${APPAREL_ID}`)).toHaveLength(3);
  });
});

describe('listed brands', () => {
  const of = (domain: string, details: Parameters<typeof registered>[2]): GivenEvent => ({
    stream: brandStream(brandIdOf(domain)),
    event: registered(domain, '2026-05-01T00:00:00.000Z', { category_path: [], ...details }),
  });
  const listed = async (path: string): Promise<string[]> =>
    ((await on(app).get(path, { key })).data as { slug: string }[]).map(({ slug }) => slug);

  test('only public brands are listed, only indexable ones are in the sitemap, and all brands can be read', async () => {
    await seedEvents(stack, [
      of('hidden.net', { is_public: false }),
      of('unindexed.net', { indexable: false }),
      of('shown.net', {}),
    ]);
    const added = ['hidden', 'unindexed', 'shown'];
    const slugs = await listed('/v1/brands?limit=100');
    expect(slugs.filter((slug) => added.includes(slug)).toSorted()).toEqual(['shown', 'unindexed']);
    const pages = await listed('/v1/brands/sitemap?limit=100');
    expect(pages.filter((slug) => added.includes(slug))).toEqual(['shown']);
    expect((await on(app).get('/v1/brands/hidden', { key })).status).toBe(200);
  });

  test('brands are sorted by active ads, by new ads, or by name', async () => {
    const ads = await on(app).get('/v1/brands', { key });
    expect((ads.data as { active_ads: number }[]).map(({ active_ads }) => active_ads)).toEqual([
      3, 3, 3, 0, 0,
    ]);
    const fresh = await on(app).get('/v1/brands?sort=new_ads_7d', { key });
    expect((fresh.data as { new_ads_7d: number }[]).map(({ new_ads_7d }) => new_ads_7d)).toEqual([
      2, 2, 2, 0, 0,
    ]);
    expect(await listed('/v1/brands?sort=name')).toEqual([
      ...brands.map(({ slug }) => slug),
      'shown',
      'unindexed',
    ]);
  });
});

describe('listBrands 400', () => {
  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['country=us', 'country'],
    ['letter=A', 'letter'],
    ['sort=best', 'sort'],
    ['q=', 'q'],
    ['category_id=shoes', 'category_id'],
    ['colour=red', 'colour'],
    ['cursor=altered', 'cursor'],
  ])('rejects %s', async (query, path) => {
    const reply = await on(app).get(`/v1/brands?${query}`, { key });
    expect(reply.status).toBe(400);
    expect(reply.error.details).toMatchObject([{ path }]);
  });

  test('rejects a cursor of other parameters', async () => {
    const { meta } = await on(app).get('/v1/brands?limit=1', { key });
    expect((await on(app).get(`/v1/brands?limit=1&country=US&cursor=${meta.cursor}`, { key })).status).toBe(
      400,
    );
    expect((await on(app).get(`/v1/brands/sitemap?limit=1&cursor=${meta.cursor}`, { key })).status).toBe(400);
    expect((await on(app).get(`/v1/brands?limit=2&cursor=${meta.cursor}`, { key })).status).toBe(200);
  });
});

describe('listBrandSitemap 200', () => {
  test('lists the URLs of indexable brands', async () => {
    const { data } = await on(app).get(`/v1/brands/sitemap?category_id=${APPAREL_ID}`, { key });
    expect((data as { url: string }[]).map(({ url }) => url).toSorted()).toEqual(
      brands.map(({ slug }) => `${BASE_URL}/v1/brands/${slug}`),
    );
  });
});

describe('listBrandSitemap 400', () => {
  test('rejects a category id that is not a uuid', async () => {
    expect((await on(app).get('/v1/brands/sitemap?category_id=1', { key })).status).toBe(400);
  });
});

describe('getBrandVelocity 200', () => {
  test('lists the weeks with an observed day, oldest first', async () => {
    const { data } = await on(app).get(`/v1/brands/${alpha.slug}/velocity?weeks=4`, { key });
    const weeks = (data as { week_start: string; active_ads: number }[]).map((week) => week.week_start);
    expect(weeks.length).toBeGreaterThanOrEqual(2);
    expect(weeks).toEqual(weeks.toSorted());
    expect(data).toMatchObject([{ active_ads: 2 }, { active_ads: 3 }]);
  });
});

describe('number of weeks', () => {
  test('returns the latest twelve by default, or the requested number', async () => {
    const days = Array.from({ length: 14 }, (_, week) => 5 + 7 * week);
    await seedEvents(stack, [
      brand('steady', { is_public: false }),
      ...days.map((day) => scanned('steady', day)),
    ]);
    const weeksOf = async (query: string): Promise<string[]> => {
      const { data } = await on(app).get(`/v1/brands/steady/velocity${query}`, { key });
      return (data as { week_start: string }[]).map(({ week_start }) => week_start);
    };
    const all = days.map((day) => at(day).slice(0, 10));
    expect(await weeksOf('?weeks=52')).toEqual(all);
    expect(await weeksOf('')).toEqual(all.slice(-12));
    expect(await weeksOf('?weeks=1')).toEqual(all.slice(-1));
  });
});

describe('getBrandVelocity 400', () => {
  test.each(['0', '53', 'x'])('rejects %s weeks', async (weeks) => {
    expect((await on(app).get(`/v1/brands/${alpha.id}/velocity?weeks=${weeks}`, { key })).status).toBe(400);
  });
});

describe('getBrandBreakdown 200', () => {
  test('counts active ads by format', async () => {
    const { data } = await on(app).get(`/v1/brands/${alpha.id}/breakdown`, { key });
    expect(data).toMatchObject({ formats: { video: 3, image: 0, carousel: 0, dco: 0, other: 0 } });
  });
});

describe('getBrandDailyActivity 200', () => {
  test('lists the observed days in the requested range, oldest first', async () => {
    const all = await on(app).get(`/v1/brands/${alpha.id}/daily-activity`, { key });
    expect(all.data).toMatchObject([
      { active_ads: 2, reliable: true },
      { active_ads: 3, new_ads: 2, retired_ads: 1, reliable: true },
    ]);
    const [first] = all.data as { date: string }[];
    const one = await on(app).get(
      `/v1/brands/${alpha.id}/daily-activity?from=${first?.date}&to=${first?.date}`,
      { key },
    );
    expect(one.data).toEqual([first]);
    expect(
      (await on(app).get(`/v1/brands/${alpha.id}/daily-activity?to=${first?.date}`, { key })).data,
    ).toEqual([first]);
  });
});

describe('getBrandDailyActivity 400', () => {
  test.each(['from=2026-02-30', 'from=2026-02-02&to=2026-02-01', 'from=2025-01-01&to=2026-01-02'])(
    'rejects %s',
    async (query) => {
      expect((await on(app).get(`/v1/brands/${alpha.id}/daily-activity?${query}`, { key })).status).toBe(400);
    },
  );
});
