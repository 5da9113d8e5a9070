import { describe, expect, test } from 'vitest';
import { on } from '#tests/dsl/api.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import type { CorpusBrand } from '../fixtures/corpus.ts';
import { openApiStack } from '../fixtures/stack.ts';

const stack = await disposeAfterAll(openApiStack());
const [opened, issued, brands] = await Promise.all([stack.api(), stack.key(), stack.seed(['alpha', 'beta'])]);
const [app, key, alpha, beta] = [opened, issued, brands[0] as CorpusBrand, brands[1] as CorpusBrand];

const idsOf = (data: unknown): readonly string[] => (data as { id: string }[]).map(({ id }) => id);

describe('listBrandAds 200', () => {
  test('lists every ad of the brand once, newest start first, and no ad of another brand', async () => {
    const seen: string[] = [];
    let cursor = '';
    do {
      const { data, meta } = await on(app).get(`/v1/brands/${alpha.slug}/ads?limit=3${cursor}`, { key });
      seen.push(...idsOf(data));
      cursor = meta.cursor === undefined ? '' : `&cursor=${meta.cursor}`;
    } while (cursor);
    expect(seen.slice(0, 2).toSorted()).toEqual(alpha.adIds.slice(2));
    expect(seen.toSorted()).toEqual(alpha.adIds);
  });
});

describe('listBrandAds 400', () => {
  test('rejects a cursor of another brand', async () => {
    const { meta } = await on(app).get(`/v1/brands/${alpha.id}/ads?limit=1`, { key });
    expect(
      (await on(app).get(`/v1/brands/${beta.id}/ads?limit=1&cursor=${meta.cursor}`, { key })).status,
    ).toBe(400);
  });
});

describe('searchAds 200', () => {
  const found = async (query: string): Promise<readonly string[]> =>
    idsOf((await on(app).get(`/v1/ads?${query}`, { key })).data).toSorted();

  test('finds only ads started in the last 90 days when no brand is named', async () => {
    expect(await found('limit=100')).toEqual([...alpha.adIds.slice(2), ...beta.adIds.slice(2)]);
  });
  test('finds ads of a brand regardless of their start', async () => {
    expect(await found(`brand_id=${alpha.id}`)).toEqual(alpha.adIds);
  });
  test('filters by words, status, format and country', async () => {
    expect(await found(`brand_id=${alpha.id}&q=winter`)).toEqual(alpha.adIds);
    expect(await found(`brand_id=${alpha.id}&q=summer`)).toEqual([]);
    expect(await found(`brand_id=${alpha.id}&status=inactive`)).toEqual([alpha.adIds[1]]);
    expect(await found(`brand_id=${alpha.id}&format=image`)).toEqual([]);
    expect(await found(`brand_id=${alpha.id}&country=US&format=video&status=active`)).toHaveLength(3);
  });
});

describe('searchAds 400', () => {
  test.each([
    'format=gif',
    'status=paused',
    'country=us',
    'brand_id=alpha',
    `q=${'x'.repeat(201)}`,
    'q=',
    'q=a%00b',
  ])('rejects %s', async (query) => {
    expect((await on(app).get(`/v1/ads?${query}`, { key })).status).toBe(400);
  });
});

describe('getAd 200', () => {
  test('returns the ad with full copy, window and history', async () => {
    const { data, meta } = await on(app).get(`/v1/ads/${alpha.adIds[0]}`, { key });
    expect(data).toMatchObject({
      id: alpha.adIds[0],
      brand: { id: alpha.id },
      status: 'active',
      destination_url: 'https://shop.example.com/sale',
      history: [{ change: 'destination_changed' }, { change: 'started' }],
    });
    expect(Date.parse(meta.as_of)).toBeLessThan(Date.now());
  });
});

describe('getAd 400', () => {
  test.each(['abc', '12', '0123456789', '1'.repeat(21)])('rejects the id %s', async (id) => {
    expect((await on(app).get(`/v1/ads/${id}`, { key })).status).toBe(400);
  });
});
