import { describe, expect, test } from 'vitest';
import { categoryIdOf, derivedId } from '#domain/ids.ts';
import { on } from '#tests/dsl/api.ts';
import {
  associate,
  at,
  brand,
  describePage,
  idOf,
  link,
  nameOperator,
  quarantine,
  scanned,
  start,
} from '#tests/projections/fixtures/network-events.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { seedEvents } from '../fixtures/site-corpus.ts';
import { BASE_URL, openApiStack } from '../fixtures/stack.ts';

const OWN = '100000001';
const HELD_BACK = '100000002';
const CREATOR = '100000003';
const SHARED = '100000004';
const OUTLET = '100000005';
const SOCKS = { id: categoryIdOf(['Socks']), slug: 'socks', name: 'Socks' };
/** A category whose only brand is not public. */
const UNWORN = { id: categoryIdOf(['Unworn']), slug: 'unworn', name: 'Unworn' };
const HOLDING = derivedId('operator', 'holding');
const SMALL = derivedId('operator', 'small');
const UNKNOWN = derivedId('operator', 'nobody');
const BRANDS = ['alpha', 'beta', 'gamma', 'delta'];

const partner = { page_id: CREATOR, page_name: 'Coastal Finds' };

const stack = await disposeAfterAll(openApiStack());
const [app, key] = await Promise.all([stack.api(), stack.key()]);
await seedEvents(stack, [
  ...BRANDS.map((name) => brand(name, { category_path: [SOCKS] })),
  brand('hidden', { category_path: [SOCKS], is_public: false }),
  brand('unseen', { category_path: [UNWORN], is_public: false }),
  link('alpha', OWN),
  link('alpha', SHARED, 'UNVERIFIED', 0.5),
  link('alpha', HELD_BACK, 'REGIONAL', 0.9),
  quarantine('alpha', HELD_BACK),
  describePage(OWN, 'library', 2, { followers: 1_200, verified: true }),
  start('alpha', '9000000001', { page: OWN, body: 'Warm socks for cold feet' }),
  start('alpha', '9000000002', { page: OWN, partner }),
  start('alpha', '9000000003', { page: SHARED }),
  start('alpha', '9000000004', { page: CREATOR, partner: { page_id: OWN, page_name: 'Alpha' } }),
  scanned('alpha', 5),
  start('beta', '9000000005', { page: SHARED, body: 'Warm socks, for cold feet!' }),
  start('beta', '9000000006', { page: SHARED }),
  start('hidden', '9000000007', { page: SHARED }),
  scanned('beta', 6),
  start('gamma', '9000000008', { page: OUTLET, body: 'WARM SOCKS for cold feet' }),
  nameOperator(HOLDING),
  associate(HOLDING, { brands: ['alpha', 'beta', 'hidden'], pages_added: [OWN] }),
  nameOperator(SMALL, 'Small Ltd'),
  associate(SMALL, { brands: ['alpha'] }),
]);

const get = (path: string) => on(app).get(path, { key });

describe('listBrandSocialPages 200', () => {
  test('lists published links with followers, most ads first, and omits withheld links', async () => {
    const { data, meta } = await get('/v1/brands/alpha/social-pages');
    expect(data).toMatchObject([
      { page_id: OWN, page_name: `Page ${OWN}`, role: 'OFFICIAL', followers: 1_200, active_ads: 2 },
      { page_id: SHARED, role: 'UNVERIFIED', followers: null, active_ads: 1 },
    ]);
    expect(meta.as_of).toBe(at(5));
  });
});
describe('getBrandLeakage 200', () => {
  test('counts active ads on own pages and on other pages', async () => {
    const { data, meta } = await get(`/v1/brands/${idOf('alpha')}/leakage`);
    expect(data).toMatchObject({
      active_ads: 4,
      own_page_ads: 2,
      third_party_ads: 1,
      third_party_pages: 1,
      unlinked_page_ads: 1,
      unlinked_pages: 1,
      largest_third_party_pages: [{ page: { page_id: SHARED }, role: 'UNVERIFIED', active_ads: 1 }],
    });
    expect(meta.as_of).toBe(at(5));
  });
  test('returns zeros for a brand without ads', async () => {
    const { data } = await get('/v1/brands/delta/leakage');
    expect(data).toMatchObject({ active_ads: 0, largest_third_party_pages: [] });
  });
});
describe('getBrandCopyReuse 200', () => {
  test('finds the texts of the brand on pages that are not linked to it', async () => {
    // The shared page is linked to alpha, so it does not count as foreign. Beta has no linked page.
    expect((await get('/v1/brands/alpha/copy-reuse')).data).toEqual([
      {
        body: 'WARM SOCKS for cold feet',
        brand_ads: 1,
        foreign_ads: 1,
        foreign_pages: 1,
        largest_foreign_pages: [{ page: { page_id: OUTLET, page_name: `Page ${OUTLET}` }, active_ads: 1 }],
      },
    ]);
    expect((await get('/v1/brands/beta/copy-reuse')).data).toEqual([]);
  });
});
describe('listBrandPartnerships 200', () => {
  test('returns both directions, merged per creator', async () => {
    const { data, meta } = await get('/v1/brands/alpha/partnerships');
    expect(data).toMatchObject([
      { creator: { page_id: CREATOR }, ads: 2, brand_page_ads: 1, creator_page_ads: 1, active_ads: 2 },
    ]);
    expect(meta.as_of).toBe(at(5));
  });
});
describe('getBrandNetwork 200', () => {
  test('returns a brand and its direct public neighbours', async () => {
    const { data, meta } = await get('/v1/brand-network?brand_id=alpha');
    expect(data).toMatchObject({
      brands: [
        { brand: { name: 'alpha', url: `${BASE_URL}/v1/brands/alpha` }, linked_brands: 1 },
        { brand: { name: 'beta' }, linked_brands: 1 },
      ],
      links: [{ brand_ids: [idOf('alpha'), idOf('beta')].toSorted(), shared_pages: 1, confidence: 0.5 }],
      brands_with_link: 2,
      brands_without_link: 0,
    });
    expect(meta.as_of).toBe(at(5));
  });
  test('returns the public brands of a category, and how many of them share no page', async () => {
    const { data, meta } = await get(`/v1/brand-network?category_id=${SOCKS.id}`);
    expect(data).toMatchObject({ brands_with_link: 2, brands_without_link: 2 });
    expect(meta.as_of).toBe(at(6));
  });
  test('returns only the brand itself when it has no links or is not public', async () => {
    const alone = { links: [], brands_with_link: 0 };
    expect((await get('/v1/brand-network?brand_id=gamma')).data).toMatchObject({
      ...alone,
      brands: [{ brand: { name: 'gamma' }, linked_brands: 0 }],
      brands_without_link: 1,
    });
    expect((await get('/v1/brand-network?brand_id=hidden')).data).toMatchObject({
      ...alone,
      brands: [{ brand: { name: 'hidden' } }],
      brands_without_link: 0,
    });
  });
  test('returns an empty network for a category without public brands', async () => {
    expect((await get(`/v1/brand-network?category_id=${UNWORN.id}`)).data).toEqual({
      brands: [],
      links: [],
      brands_with_link: 0,
      brands_without_link: 0,
    });
  });
  test('contains no statement about owners', async () => {
    const { data } = await get('/v1/brand-network?brand_id=alpha');
    expect(JSON.stringify(data)).not.toMatch(/own|parent|subsidiary|operator/i);
  });
});
describe('getBrandNetwork 400', () => {
  test.each(['', `?brand_id=alpha&category_id=${SOCKS.id}`, '?category_id=socks', '?brand_id=A%20B'])(
    'rejects %j',
    async (query) => {
      expect((await get(`/v1/brand-network${query}`)).status).toBe(400);
    },
  );
});
describe('getBrandNetwork 404', () => {
  test('rejects an unknown brand and an unknown category', async () => {
    expect((await get('/v1/brand-network?brand_id=nobody')).status).toBe(404);
    expect((await get(`/v1/brand-network?category_id=${UNKNOWN}`)).status).toBe(404);
  });
});

describe('listHubs 200', () => {
  test('lists pages of two or more public brands with their roster', async () => {
    const { data, meta } = await get('/v1/hubs');
    expect(data).toMatchObject([
      {
        page: { page_id: SHARED },
        followers: null,
        brands: 2,
        active_ads: 3,
        roster: [
          { brand: { slug: 'beta' }, active_ads: 2 },
          { brand: { slug: 'alpha' }, active_ads: 1 },
        ],
      },
    ]);
    expect(meta.as_of).toBe(at(6));
  });
});
describe('listHubs 400', () => {
  test.each(['limit=0', 'cursor=altered', 'sort=name'])('rejects %s', async (query) => {
    expect((await get(`/v1/hubs?${query}`)).status).toBe(400);
  });
});

describe('listOperators 200', () => {
  test('lists companies with several domains or pages, with their number of public brands', async () => {
    const { data, meta } = await get('/v1/operators');
    expect(data).toEqual([
      {
        id: HOLDING,
        name: 'Harbor Holdings',
        country: 'US',
        domains: 3,
        pages: 1,
        observed_at: at(4),
        url: `${BASE_URL}/v1/operators/${HOLDING}`,
        public_brands: 2,
      },
    ]);
    expect(meta.as_of).toBe(at(4));
  });
});
describe('listOperators 400', () => {
  test.each(['limit=101', 'cursor=altered', 'q=x'])('rejects %s', async (query) => {
    expect((await get(`/v1/operators?${query}`)).status).toBe(400);
  });
});

describe('getOperator 200', () => {
  test('returns an operator with its public brands and the source of each association', async () => {
    const { data } = await get(`/v1/operators/${HOLDING}`);
    expect(data).toMatchObject({
      id: HOLDING,
      brands: [{ slug: 'alpha' }, { slug: 'beta' }],
      page_associations: [{ page_id: OWN, bases: ['site_imprint'] }],
    });
    expect((await get(`/v1/operators/${SMALL}`)).data).toMatchObject({ domains: 1, public_brands: 1 });
  });
});
describe('listBrandOperators 200', () => {
  test('lists the operators of the domain of the brand, each with its other public brands', async () => {
    const { data } = await get('/v1/brands/alpha/operators');
    expect(data).toMatchObject([
      { id: HOLDING, bases: ['site_imprint'], other_brands: [{ slug: 'beta' }] },
      { id: SMALL, other_brands: [] },
    ]);
    expect((await get('/v1/brands/gamma/operators')).data).toEqual([]);
  });
});
