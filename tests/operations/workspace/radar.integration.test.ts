import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { on } from '#tests/dsl/api.ts';
import type { CorpusBrand } from '../fixtures/corpus.ts';
import { type ApiStack, BASE_URL, type Key, openApiStack } from '../fixtures/stack.ts';

let stack: ApiStack;
let app: FastifyInstance;
let key: Key;
let alpha: CorpusBrand;

beforeAll(async () => {
  stack = await openApiStack();
  const [opened, issued, brands] = await Promise.all([
    stack.api(),
    stack.key(),
    stack.seed(['alpha', 'beta']),
  ]);
  [app, key, alpha] = [opened, issued, brands[0] as CorpusBrand];
});
afterAll(() => stack[Symbol.asyncDispose]());

type Item = { type: string; brand: { id: string }; ad: { id: string; url: string } };

describe('listRadar 200', () => {
  test('is empty without tracked brands, and lists only changes at tracked brands', async () => {
    const path = `/v1/workspaces/${key.workspaceId}/radar`;
    expect((await on(app).get(path, { key })).data).toEqual([]);
    await on(app).post(`/v1/workspaces/${key.workspaceId}/tracked-brands`, {
      key,
      body: { brand_id: alpha.id },
    });

    const seen: Item[] = [];
    let cursor = '';
    do {
      const { data, meta } = await on(app).get(`${path}?limit=3${cursor}`, { key });
      seen.push(...(data as Item[]));
      cursor = meta.cursor === undefined ? '' : `&cursor=${meta.cursor}`;
    } while (cursor);
    expect(seen.map(({ type }) => type).toSorted()).toEqual([
      'ad_started',
      'ad_started',
      'ad_stopped',
      'destination_changed',
    ]);
    expect(new Set(seen.map(({ brand }) => brand.id))).toEqual(new Set([alpha.id]));
    expect(seen[0]?.ad.url).toBe(`${BASE_URL}/v1/ads/${seen[0]?.ad.id}`);

    const stops = await on(app).get(`${path}?types=destination_changed,ad_stopped`, { key });
    expect((stops.data as Item[]).map(({ type }) => type).toSorted()).toEqual([
      'ad_stopped',
      'destination_changed',
    ]);
  });
});

describe('listRadar 400', () => {
  test.each(['days=0', 'days=366', 'types=ad_paused', 'types=', 'since=2026-01-01'])(
    'rejects %s',
    async (query) => {
      expect((await on(app).get(`/v1/workspaces/${key.workspaceId}/radar?${query}`, { key })).status).toBe(
        400,
      );
    },
  );
});
