import { describe, expect, test } from 'vitest';
import { inTransaction } from '#platform/postgres/pool.ts';
import { rewriteNewAdvertisers } from '#projections/new-advertisers/rewrite.ts';
import { on } from '#tests/dsl/api.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { APPAREL_ID } from '../fixtures/corpus.ts';
import { openApiStack } from '../fixtures/stack.ts';

const stack = await disposeAfterAll(openApiStack());
const [app, key, brands] = await Promise.all([stack.api(), stack.key(), stack.seed(['alpha', 'beta'])]);

const brandIdsOf = (data: unknown): readonly string[] =>
  (data as { brand: { id: string } }[]).map(({ brand }) => brand.id);

describe('listRisers 200', () => {
  test('continues the ranks from page to page', async () => {
    const first = await on(app).get(`/v1/rankings/risers?limit=1&category_id=${APPAREL_ID}&country=US`, {
      key,
    });
    expect(first.data).toMatchObject([
      { rank: 1, active_ads: 3, previous_active_ads: 2, growth: 1, growth_rate: 0.5 },
    ]);
    const query = `limit=1&category_id=${APPAREL_ID}&country=US&cursor=${first.meta.cursor}`;
    const second = await on(app).get(`/v1/rankings/risers?${query}`, { key });
    expect(second.data).toMatchObject([{ rank: 2 }]);
    expect(second.meta.cursor).toBeUndefined();
    expect([...brandIdsOf(first.data), ...brandIdsOf(second.data)].toSorted()).toEqual(
      brands.map(({ id }) => id).toSorted(),
    );
  });
  test('returns an empty list for a country without risers', async () => {
    expect((await on(app).get('/v1/rankings/risers?country=DE', { key })).data).toEqual([]);
  });
});

describe('listRisers 400', () => {
  test.each(['country=usa', 'category_id=1', 'days=3', 'limit=0'])('rejects %s', async (query) => {
    expect((await on(app).get(`/v1/rankings/risers?${query}`, { key })).status).toBe(400);
  });
});

describe('listNewAdvertisers 200', () => {
  test('is empty before the first nightly rewrite, and returns the list with its time after it', async () => {
    expect((await on(app).get('/v1/rankings/new-advertisers', { key })).data).toEqual([]);
    await inTransaction(stack.pool, (client) => rewriteNewAdvertisers(client));
    const { status, meta } = await on(app).get('/v1/rankings/new-advertisers?days=90', { key });
    expect(status).toBe(200);
    expect(Date.now() - Date.parse(meta.as_of)).toBeGreaterThan(5 * 3_600_000);
  });
});

describe('listNewAdvertisers 400', () => {
  test.each(['days=0', 'days=91', 'country=usa', 'category_id=1'])('rejects %s', async (query) => {
    expect((await on(app).get(`/v1/rankings/new-advertisers?${query}`, { key })).status).toBe(400);
  });
});
