import { describe, expect, test } from 'vitest';
import { takesBrandSlug } from '#operations/endpoint/parameters.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { on, type Reply } from '#tests/dsl/api.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { openApiStack } from '../fixtures/stack.ts';

const stack = await disposeAfterAll(openApiStack());
const [app, key] = await Promise.all([stack.api(), stack.key()]);
const [alpha] = await stack.seed(['alpha', 'beta', 'beta-com']);
const get = (path: string) => on(app).get(path, { key });
const locationIn = ({ headers }: Reply): string => decodeURIComponent(String(headers['location']));
const workspace = `/v1/workspaces/${key.workspaceId}`;
await on(app).post(`${workspace}/tracked-brands`, { key, body: { brand_id: alpha?.id } });

const QUERIES: Readonly<Record<string, string>> = {
  getBrandBounds: '?figure=active_ads',
  getBrandProof: '?figure=active_ads',
  listBrandChanges: '?since=2026-01-01T00:00:00Z',
};
const paths = ENDPOINTS.filter(takesBrandSlug).map(({ operationId, path }) => [
  operationId,
  path.includes('{brandId}')
    ? `${path.replace('{brandId}', 'SLUG').replace('/v1/workspaces/{ws}', workspace)}${QUERIES[operationId] ?? ''}`
    : `${path}?brand_id=SLUG`,
]);

describe('an older slug', () => {
  test.each(paths)(
    'sent to %s is answered with the address that has the present one',
    async (_, path = '') => {
      const reply = await get(path.replace('SLUG', 'alpha-com'));
      expect([reply.status, locationIn(reply), reply.body]).toEqual([308, path.replace('SLUG', 'alpha'), '']);
      expect(reply.headers).toMatchObject({
        'cache-control': 'private, no-cache',
        'x-ratelimit-limit': '1000',
      });
      expect((await get(locationIn(reply))).status).toBe(200);
    },
  );

  test('keeps the other parameters, and may be percent-encoded', async () => {
    const { headers } = await get('/v1/brands/alpha%2Dcom/ads?limit=5');
    expect(headers['location']).toBe('/v1/brands/alpha/ads?limit=5');
  });

  test('keeps question marks in parameters', async () => {
    const reply = await get('/v1/brands/alpha-com/ads/search?cta_type=what?ever&limit=3');
    expect(locationIn(reply)).toBe('/v1/brands/alpha/ads/search?cta_type=what?ever&limit=3');
  });

  test('names the same brand in reads of past moments', async () => {
    const moment = new Date().toISOString();
    const reply = await get(`/v1/brands/alpha-com?as_of=${moment}`);
    expect([reply.status, locationIn(reply)]).toEqual([308, `/v1/brands/alpha?as_of=${moment}`]);
  });

  test('is the present slug of another brand where there is one', async () => {
    const { status, data } = await get('/v1/brands/beta-com');
    expect([status, (data as { domain: string }).domain]).toEqual([200, 'beta-com.com']);
  });

  test('of no brand is answered with 404', async () => {
    expect((await get('/v1/brands/gamma-com')).status).toBe(404);
    expect((await get('/v1/brands/alpha-com-com')).status).toBe(404);
  });

  test('is found by a look-up', async () => {
    const { data } = await get('/v1/lookup?q=alpha-com');
    expect(data).toMatchObject({ matches: [{ id: alpha?.id, certainty: 'exact' }] });
  });
});
