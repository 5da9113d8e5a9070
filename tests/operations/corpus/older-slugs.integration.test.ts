import { describe, expect, test } from 'vitest';
import { takesBrandSlug } from '#operations/endpoint/parameters.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { on } from '#tests/dsl/api.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { openApiStack } from '../fixtures/stack.ts';

const stack = await disposeAfterAll(openApiStack());
const [app, key] = await Promise.all([stack.api(), stack.key()]);
const [alpha] = await stack.seed(['alpha', 'beta', 'beta-com']);
const get = (path: string) => on(app).get(path, { key });
const workspace = `/v1/workspaces/${key.workspaceId}`;
await on(app).post(`${workspace}/tracked-brands`, { key, body: { brand_id: alpha?.id } });

const paths = ENDPOINTS.filter(takesBrandSlug).map(({ operationId, path }) => [
  operationId,
  path.includes('{brandId}')
    ? path.replace('{brandId}', 'SLUG').replace('/v1/workspaces/{ws}', workspace)
    : `${path}?brand_id=SLUG`,
]);

describe('an older slug', () => {
  test.each(paths)(
    'sent to %s is answered with the address that has the present one',
    async (_, path = '') => {
      const { status, headers, body } = await get(path.replace('SLUG', 'alpha-com'));
      expect([status, headers['location'], body]).toEqual([308, path.replace('SLUG', 'alpha'), '']);
      expect(headers).toMatchObject({ 'cache-control': 'private, no-cache', 'x-ratelimit-limit': '1000' });
      expect((await get(String(headers['location']))).status).toBe(200);
    },
  );

  test('keeps the other parameters, and may be percent-encoded', async () => {
    const { headers } = await get('/v1/brands/alpha%2Dcom/ads?limit=5');
    expect(headers['location']).toBe('/v1/brands/alpha/ads?limit=5');
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
