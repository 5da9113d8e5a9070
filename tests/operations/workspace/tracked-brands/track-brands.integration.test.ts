import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type BulkTracked, TRACKED_AT_ONCE_MAX } from '#contracts/resources/workspace/tracked-brand.ts';
import { on } from '#tests/dsl/api.ts';
import { loseReply } from '#tests/operations/fixtures/alerting.ts';
import { BASE_URL, type Key } from '#tests/operations/fixtures/stack.ts';
import { eventsOf, openTrackingStack, pathOf, trackingThrough } from '#tests/operations/fixtures/tracking.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';

const stack = await disposeAfterAll(openTrackingStack());
const { track, trackAll } = trackingThrough(stack.app);
const NOBODY = '00000000-0000-4000-8000-000000000000';
const [alpha = '', beta = '', gamma = ''] = stack.brands.map(({ id }) => id);

const resultsOf = async (key: Key, brands: readonly object[]): Promise<BulkTracked['results']> => {
  const { status, data } = await trackAll(key, brands);
  expect(status).toBe(200);
  return (data as BulkTracked).results;
};
const summary = (results: BulkTracked['results']) =>
  results.map(({ brand_id, result }) => [brand_id, result]);
const listed = async (key: Key): Promise<readonly string[]> => {
  const { data } = await on(stack.app).get(pathOf(key), { key });
  return (data as { brand: { id: string }; cadence: string }[]).map(
    ({ brand, cadence }) => `${brand.id} ${cadence}`,
  );
};

describe('trackBrands 200', () => {
  test('tells the result of each brand in the order of the request, and the next read shows them', async () => {
    const key = await stack.key();
    await track(key, alpha, 'daily');
    const first = await track(key, beta, 'daily');
    const results = await resultsOf(key, [
      { brand_id: gamma.toUpperCase() },
      { brand_id: NOBODY },
      { brand_id: beta },
      { brand_id: alpha, cadence: 'daily' },
    ]);
    expect(summary(results)).toEqual([
      [gamma, 'tracked'],
      [NOBODY, 'brand_unknown'],
      [beta, 'cadence_changed'],
      [alpha, 'already_tracked'],
    ]);
    const { created_at } = first.data as { created_at: string };
    expect(results.map(({ tracked_brand }) => tracked_brand)).toMatchObject([
      { brand_id: gamma, workspace_id: key.workspaceId, cadence: 'weekly' },
      null,
      { url: expect.stringContaining(BASE_URL), created_at },
      { cadence: 'daily' },
    ]);
    expect(new Set(await listed(key))).toEqual(
      new Set([`${alpha} daily`, `${beta} weekly`, `${gamma} weekly`]),
    );
    expect(await eventsOf(stack, key)).toEqual([
      'BrandTracked',
      'BrandTracked',
      'BrandTracked',
      'TrackingCadenceChanged',
    ]);
  });

  test('tracks the first brands for which the plan has slots, and tells which are left', async () => {
    const key = await stack.key({ plan: 'free' });
    const results = await resultsOf(
      key,
      stack.brands.map(({ id }) => ({ brand_id: id })),
    );
    expect(results.map(({ result }) => result)).toEqual([
      ...stack.brands.slice(0, 5).map(() => 'tracked'),
      'no_slot',
    ]);
    expect(results[5]?.tracked_brand).toBeNull();
    expect(await listed(key)).toHaveLength(5);
  });

  test('tracks each brand once when the reply of the first request was lost', async () => {
    const key = await stack.key();
    const headers = { 'idempotency-key': randomUUID() };
    const brands = [{ brand_id: alpha }, { brand_id: NOBODY }];
    const first = await trackAll(key, brands, headers);
    expect((await trackAll(key, brands, headers)).data).toEqual(first.data);
    await loseReply(stack, headers['idempotency-key']);
    const again = (await trackAll(key, brands, headers)).data as BulkTracked;
    expect(summary(again.results)).toEqual([
      [alpha, 'already_tracked'],
      [NOBODY, 'brand_unknown'],
    ]);
    expect(await eventsOf(stack, key)).toEqual(['BrandTracked']);
  });

  test('takes as many brands as the limit says', async () => {
    const unknown = Array.from({ length: TRACKED_AT_ONCE_MAX }, () => ({ brand_id: randomUUID() }));
    const results = await resultsOf(await stack.key(), unknown);
    expect(new Set(results.map(({ result }) => result))).toEqual(new Set(['brand_unknown']));
  });
});

describe('trackBrands 400', () => {
  test.each<[string, readonly object[], string]>([
    ['no brand', [], 'brands'],
    [
      'too many brands',
      Array.from({ length: TRACKED_AT_ONCE_MAX + 1 }, () => ({ brand_id: randomUUID() })),
      'brands',
    ],
    ['a brand twice', [{ brand_id: alpha }, { brand_id: alpha.toUpperCase(), cadence: 'daily' }], 'brands'],
    ['a slug', [{ brand_id: 'alpha' }], 'brands.0.brand_id'],
    ['another cadence', [{ brand_id: alpha }, { brand_id: beta, cadence: 'hourly' }], 'brands.1.cadence'],
  ])('rejects %s, and tracks nothing', async (_name, brands, path) => {
    const key = await stack.key();
    const reply = await trackAll(key, brands);
    expect(reply).toMatchObject({ status: 400, error: { details: [{ path }] } });
    expect(await eventsOf(stack, key)).toEqual([]);
  });
});

describe('trackBrands 409', () => {
  test('refuses an idempotency key that another body had', async () => {
    const key = await stack.key();
    const headers = { 'idempotency-key': randomUUID() };
    await trackAll(key, [{ brand_id: alpha }], headers);
    expect((await trackAll(key, [{ brand_id: beta }], headers)).status).toBe(409);
  });
});
