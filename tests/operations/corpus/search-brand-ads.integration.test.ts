import { describe, expect, test } from 'vitest';
import type { AdStarted } from '#contracts/events/corpus/ad-library.ts';
import type { GivenEvent } from '#tests/dsl/projections.ts';
import { on } from '#tests/dsl/api.ts';
import { brand, idOf, scanned, start, stop } from '#tests/projections/fixtures/network-events.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { everyPage } from '../fixtures/boards.ts';
import { seedEvents } from '../fixtures/site-corpus.ts';
import { openApiStack } from '../fixtures/stack.ts';

const [ONE, TWO] = ['100000001', '100000002'] as const;
const idOfAd = (n: number): string => `900000000${n}`;

type Shown = { readonly page: string; readonly on: string | null; readonly content?: object };

const ad = (n: number, { page, on: started_on, content = {} }: Shown, name = 'alpha'): GivenEvent => {
  const { stream, event } = start(name, idOfAd(n), { page });
  const { data } = event as AdStarted;
  const changed = { ...data, started_on, content: { ...data.content, ...content } };
  return { stream, event: { type: 'AdStarted', data: changed } };
};

const stack = await disposeAfterAll(openApiStack());
const [app, key] = await Promise.all([stack.api(), stack.key()]);
await seedEvents(stack, [
  brand('alpha'),
  brand('beta'),
  ad(1, { page: ONE, on: '2025-10-10', content: { cta_type: 'SHOP_NOW', platforms: ['facebook'] } }),
  ad(2, { page: ONE, on: '2025-12-10', content: { cta_type: 'SHOP_NOW', languages: ['en', 'de'] } }),
  ad(3, {
    page: TWO,
    on: '2025-11-10',
    content: { platforms: ['facebook', 'instagram'], languages: ['de'] },
  }),
  ad(4, { page: TWO, on: null, content: { cta_type: 'LEARN_MORE' } }),
  ad(5, { page: ONE, on: '2025-12-10' }),
  ad(6, { page: ONE, on: '2025-10-10' }, 'beta'),
  stop('alpha', idOfAd(1), { day: 5 }),
  stop('alpha', idOfAd(3), { day: 6 }),
  scanned('alpha', 6),
  scanned('beta', 6),
]);

type Listed = { readonly id: string; readonly days_active: number | null };
const search = (query: string, limit = 100): Promise<readonly Listed[]> =>
  everyPage<Listed>(app, key, `/v1/brands/alpha/ads/search?${query}`, limit);
const found = async (query: string, limit = 100): Promise<readonly number[]> =>
  (await search(query, limit)).map(({ id }) => Number(id.at(-1)));

describe('searchBrandAds 200', () => {
  test.each([1, 2, 100])(
    'lists the ads of the brand alone, newest start first, in pages of %i',
    async (limit) => {
      const all = await everyPage<Listed>(app, key, `/v1/brands/${idOf('alpha')}/ads`);
      expect(all).toHaveLength(5);
      expect(await search('', limit)).toEqual(all);
    },
  );

  test.each([1, 2, 100])('lists the longest running first, in pages of %i', async (limit) => {
    const ads = await search('sort=longest_running', limit);
    const days = ads.map(({ days_active }) => days_active ?? -1);
    expect(days).toEqual(days.toSorted((one, other) => other - one));
    expect(ads.map(({ id }) => id)).toHaveLength(5);
    expect(new Set(ads.map(({ id }) => id)).size).toBe(5);
    expect(ads[0]?.id).toBe(idOfAd(1));
  });

  test.each<[string, readonly number[]]>([
    ['platform=Instagram', [3]],
    ['platform=facebook', [3, 1]],
    [`page_id=${TWO}`, [4, 3]],
    ['cta_type=shop_now', [2, 1]],
    ['language=de', [2, 3]],
    ['language=de&cta_type=SHOP_NOW', [2]],
    ['status=inactive', [3, 1]],
    ['started_from=2025-11-10&started_to=2025-12-09', [3]],
    ['started_from=2025-12-10&started_to=2025-12-10', [5, 2]],
    ['confirmed_inactive_from=2026-01-06', [3]],
    ['confirmed_inactive_from=2026-01-05&confirmed_inactive_to=2026-01-05', [1]],
    ['confirmed_inactive_to=2026-01-04', []],
    ['status=active&confirmed_inactive_from=2026-01-01', []],
    ['sort=longest_running&status=inactive', [1, 3]],
    ['platform=threads', []],
  ])('filters by %s', async (query, ads) => {
    expect(await found(query)).toEqual(ads);
    expect(await found(query, 1)).toEqual(ads);
  });

  test('holds as of the last scan of the brand, also when it finds nothing', async () => {
    const { meta } = await on(app).get('/v1/brands/alpha/ads/search?platform=threads', { key });
    expect(meta.as_of).toBe((await on(app).get('/v1/brands/alpha/ads', { key })).meta.as_of);
  });
});

describe('searchBrandAds 400', () => {
  test.each([
    ['sort=oldest', 'sort'],
    ['page_id=abc', 'page_id'],
    ['platform=', 'platform'],
    ['language=a%00b', 'language'],
    ['status=paused', 'status'],
    ['started_from=2026-02-30', 'started_from'],
    ['started_from=2026-02-02&started_to=2026-02-01', 'started_from'],
    ['confirmed_inactive_from=2026-02-02&confirmed_inactive_to=2026-02-01', 'confirmed_inactive_from'],
    ['ended_from=2026-02-02', 'ended_from'],
    ['cursor=x', 'cursor'],
  ])('rejects %s', async (query, path) => {
    const reply = await on(app).get(`/v1/brands/alpha/ads/search?${query}`, { key });
    expect(reply).toMatchObject({ status: 400, error: { details: [{ path }] } });
  });

  test('rejects a cursor of another order', async () => {
    const url = '/v1/brands/alpha/ads/search?limit=1';
    const { meta } = await on(app).get(url, { key });
    const other = `${url}&sort=longest_running&cursor=${meta.cursor}`;
    expect((await on(app).get(other, { key })).status).toBe(400);
  });
});
