import { describe, expect, test } from 'vitest';
import { brandIdOf, categoryIdOf } from '#domain/ids.ts';
import { slugOfBrand } from '#tests/dsl/site-events.ts';
import { on } from '#tests/dsl/api.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { BASE_URL, openApiStack } from '../fixtures/stack.ts';
import { OBSERVED_AT, PROFILED_AT, seedSites, sharesOf, similar } from '../fixtures/traffic-corpus.ts';

const US = [{ country: 'US', share: 0.6 }];
const BOOTS = ['Apparel', 'Shoes', 'Boots'];
const ALPHA = slugOfBrand('alpha.com');
const QUIET = slugOfBrand('quiet.com');
const NOWHERE = brandIdOf('nowhere.example');

const stack = await disposeAfterAll(openApiStack());
const [app, key] = await Promise.all([stack.api(), stack.key()]);
await seedSites(stack, [
  {
    domain: 'alpha.com',
    path: BOOTS,
    months: {
      '2026-04-01': { monthly_visits: 900 },
      '2026-05-01': {
        monthly_visits: 1_000,
        global_ranking: 7,
        category_ranking: 3,
        provider_category: 'Fashion "Shoes"',
        countries: US,
        demographics: sharesOf({ female: 0.6, male: 0.4, age_18_24: 0.3 }),
        similar_sites: [
          similar('beta.com', 0.9),
          similar('secret.com', 0.8),
          similar('elsewhere.net', 0.7),
          ...Array.from({ length: 9 }, (_, nth) => similar(`more-${nth}.net`, 0.5)),
        ],
      },
    },
  },
  {
    domain: 'beta.com',
    path: ['Apparel', 'Hats'],
    months: {
      '2026-05-01': {
        monthly_visits: 3_000,
        countries: US,
        provider_category: 'Hats',
        demographics: sharesOf({ age_18_24: 0.5 }),
      },
    },
  },
  {
    domain: 'gamma.com',
    path: ['Pets'],
    months: { '2026-05-01': { monthly_visits: 2_000, countries: US } },
  },
  {
    domain: 'delta.com',
    path: BOOTS,
    months: { '2026-05-01': { monthly_visits: 9_000, countries: [{ country: 'CA', share: 0.9 }] } },
  },
  {
    domain: 'secret.com',
    path: BOOTS,
    is_public: false,
    months: {
      '2026-05-01': { monthly_visits: 9_000, countries: US, demographics: sharesOf({ age_18_24: 0.5 }) },
    },
  },
  { domain: 'quiet.com', path: BOOTS },
  { domain: 'elsewhere.net', months: { '2026-05-01': { monthly_visits: 5, global_ranking: 8 } } },
]);

const read = async (path: string) => {
  const reply = await on(app).get(path, { key });
  expect(reply.status).toBe(200);
  return { ...reply, data: reply.data as unknown as Record<string, unknown>[] };
};

describe('listSimilarSites 200', () => {
  test('returns eight sites by default, most similar first, with public brands named', async () => {
    const { data, meta } = await read(`/v1/brands/${ALPHA}/similar`);
    expect(data).toHaveLength(8);
    expect(data.slice(0, 3)).toEqual([
      {
        domain: 'beta.com',
        affinity: 0.9,
        provider_category: 'Hats',
        brand: {
          id: brandIdOf('beta.com'),
          slug: 'beta',
          name: 'beta',
          logo_url: null,
          url: `${BASE_URL}/v1/brands/beta`,
        },
        monthly_visits: 3_000,
        global_ranking: null,
      },
      expect.objectContaining({ domain: 'secret.com', brand: null }),
      expect.objectContaining({ domain: 'elsewhere.net', brand: null, monthly_visits: 5, global_ranking: 8 }),
    ]);
    expect(meta.as_of).toBe(OBSERVED_AT);
  });
  test('returns the requested number, and an empty list without estimates', async () => {
    expect((await read(`/v1/brands/${ALPHA}/similar?limit=50`)).data).toHaveLength(12);
    expect((await read(`/v1/brands/${ALPHA}/similar?limit=1`)).data).toHaveLength(1);
    expect((await read(`/v1/brands/${QUIET}/similar`)).data).toEqual([]);
  });
});

describe('listSimilarSites 400', () => {
  test.each(['limit=0', 'limit=51', 'limit=x', 'cursor=a'])('rejects %s', async (query) => {
    expect((await on(app).get(`/v1/brands/${ALPHA}/similar?${query}`, { key })).status).toBe(400);
  });
});

describe('getBrandTrajectory 200', () => {
  test('lists months oldest first, and an empty list without estimates', async () => {
    const { data, meta } = await read(`/v1/brands/${ALPHA}/trajectory`);
    expect(data).toEqual([
      { date: '2026-04-01', global_ranking: null, category_ranking: null, monthly_visits: 900 },
      { date: '2026-05-01', global_ranking: 7, category_ranking: 3, monthly_visits: 1_000 },
    ]);
    expect(meta.as_of).toBe(OBSERVED_AT);
    expect((await read(`/v1/brands/${QUIET}/trajectory`)).data).toEqual([]);
  });
});

describe('getBrandDemographics 200', () => {
  test('returns estimates, and null where there are none', async () => {
    expect((await read(`/v1/brands/${ALPHA}/demographics`)).data).toEqual(
      sharesOf({ female: 0.6, male: 0.4, age_18_24: 0.3 }),
    );
    expect((await read(`/v1/brands/${QUIET}/demographics`)).data).toEqual(sharesOf({}));
  });
});

describe('listRanking 200', () => {
  const placed = ({ rank, brand }: Record<string, unknown>): string =>
    `${String(rank)} ${(brand as { slug: string }).slug}`;
  const ranked = async (query: string): Promise<string[]> =>
    (await read(`/v1/rankings?${query}`)).data.map(placed);

  test('lists public brands of the country, most visited first', async () => {
    const { data, meta } = await read('/v1/rankings?country=US');
    expect(data.map(({ rank, monthly_visits }) => [rank, monthly_visits])).toEqual([
      [1, 3_000],
      [2, 2_000],
      [3, 1_000],
    ]);
    expect(data[2]).toMatchObject({
      brand: { slug: 'alpha', category: { slug: 'apparel' }, mid_category: { slug: 'shoes' } },
      country: 'US',
      country_share: 0.6,
      estimated_for: '2026-05-01',
      global_ranking: 7,
      category_ranking: 3,
      provider_category: 'Fashion "Shoes"',
    });
    // The brand records are older than the estimates.
    expect(meta.as_of).toBe(PROFILED_AT);
    expect(await ranked('country=CA')).toEqual(['1 delta']);
    expect(await ranked('country=DE')).toEqual([]);
  });

  test('filters by a category of any level', async () => {
    expect(await ranked(`country=US&category_id=${categoryIdOf(['Apparel'])}`)).toEqual([
      '1 beta',
      '2 alpha',
    ]);
    expect(await ranked(`country=US&category_id=${categoryIdOf(['Apparel', 'Shoes'])}`)).toEqual(['1 alpha']);
    expect(await ranked(`country=US&category_id=${categoryIdOf(BOOTS)}`)).toEqual(['1 alpha']);
    expect(await ranked(`country=US&category_id=${NOWHERE}`)).toEqual([]);
  });

  test.each(['', `&category_id=${categoryIdOf(['Apparel'])}`])(
    'continues the ranks from page to page%s',
    async (filter) => {
      const seen: string[] = [];
      let cursor = '';
      do {
        const { data, meta } = await read(`/v1/rankings?country=US&limit=1${filter}${cursor}`);
        seen.push(...data.map(placed));
        cursor = meta.cursor === undefined ? '' : `&cursor=${meta.cursor}`;
      } while (cursor);
      expect(seen).toEqual(await ranked(`country=US${filter}`));
    },
  );
});

describe('listRanking 400', () => {
  test.each([
    ['', 'country'],
    ['country=us', 'country'],
    ['country=US&category_id=shoes', 'category_id'],
    ['country=US&limit=101', 'limit'],
    ['country=US&cursor=altered', 'cursor'],
  ])('rejects %s', async (query, path) => {
    const reply = await on(app).get(`/v1/rankings?${query}`, { key });
    expect(reply.status).toBe(400);
    expect(reply.error.details).toMatchObject([{ path }]);
  });
});

describe('listAudience 200', () => {
  test('lists public brands of the segment with demographics, most visited first', async () => {
    const { data, meta } = await read('/v1/audience/gen-z');
    expect(data).toMatchObject([
      { rank: 1, brand: { slug: 'beta' }, monthly_visits: 3_000, demographics: { age_18_24: 0.5 } },
      { rank: 2, brand: { slug: 'alpha' }, monthly_visits: 1_000, demographics: { female: 0.6 } },
    ]);
    expect(meta.as_of).toBe(PROFILED_AT);
    const first = await read('/v1/audience/gen-z?limit=1');
    expect(first.data).toEqual(data.slice(0, 1));
    const second = await read(`/v1/audience/gen-z?limit=1&cursor=${first.meta.cursor}`);
    expect(second.data).toEqual(data.slice(1));
    expect(second.meta.cursor).toBeUndefined();
    expect((await read('/v1/audience/majority-male')).data).toEqual([]);
  });
});

describe('listAudience 400', () => {
  test.each(['limit=0', 'cursor=altered', 'country=US'])('rejects %s', async (query) => {
    expect((await on(app).get(`/v1/audience/gen-z?${query}`, { key })).status).toBe(400);
  });
});

describe('listAudience 404', () => {
  test.each(['gen-y', 'Gen%20Z', 'constructor'])('rejects the segment %s', async (segment) => {
    const reply = await on(app).get(`/v1/audience/${segment}`, { key });
    expect(reply.status).toBe(404);
    expect(reply.error.message).toContain('majority-female');
  });
});
