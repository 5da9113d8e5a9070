import { describe, expect, test } from 'vitest';
import { SCOPES } from '#contracts/values/access.ts';
import { on } from '#tests/dsl/api.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { colleague } from '../fixtures/boards.ts';
import { openApiStack } from '../fixtures/stack.ts';

const stack = await disposeAfterAll(openApiStack());
const app = await stack.api();

describe('getSystemFreshness 200', () => {
  test('returns freshness before and after the first scan', async () => {
    const key = await stack.key();
    const empty = await on(app).get('/v1/system/freshness', { key });
    expect(empty.data).toMatchObject({
      brands_total: 0,
      ads_total: 0,
      last_scrape_at: '1970-01-01T00:00:00.000Z',
    });
    await stack.seed(['alpha', 'beta']);
    const { data, meta } = await on(app).get('/v1/system/freshness', { key });
    expect(data).toMatchObject({
      ads_total: 8,
      brands_total: 2,
      brands_with_usable_data: 2,
      last_scrape_at: meta.as_of,
      coverage: [{ category_slug: 'apparel', brands: 2, brands_scraped_7d: 2 }],
    });
  });

  test('changes the data version when more was observed, and not when workspaces change', async () => {
    const key = await stack.key();
    const versionAfter = async (position: string): Promise<string> => {
      await stack.projected(BigInt(position));
      const { data } = await on(app).get('/v1/system/freshness', { key });
      return (data as { data_version: string }).data_version;
    };
    const save = async (item_key: string): Promise<string> => {
      const body = { item_type: 'ad', item_key };
      const { headers } = await on(app).post(`/v1/workspaces/${key.workspaceId}/saved`, { key, body });
      return String(headers['x-read-position']);
    };
    const before = await versionAfter(await save('10001'));
    expect(await versionAfter(await save('10002'))).toBe(before);
    await stack.seed(['gamma']);
    expect(await versionAfter(await save('10003'))).not.toBe(before);
  });
});

describe('getMe 200', () => {
  test('returns workspace, member, role, plan and scopes of the key', async () => {
    const key = await stack.key({ role: 'viewer', plan: 'business', scopes: ['me:read', 'brands:read'] });
    const { data } = await on(app).get('/v1/me', { key });
    expect(data).toMatchObject({
      workspace_id: key.workspaceId,
      member: { id: key.memberId, name: 'Ada' },
      key_id: key.keyId,
      role: 'viewer',
      plan: 'business',
      scopes: ['brands:read', 'me:read'],
      tracked_brands: { used: 0, slots: 500 },
      requests_per_minute: 1_000,
    });
  });
  test('returns every scope for the key of an owner', async () => {
    const { data } = await on(app).get('/v1/me', { key: await stack.key() });
    expect(data).toMatchObject({ scopes: SCOPES });
  });
});

describe('listMembers 200', () => {
  test('lists the members in the order in which they were added, page by page', async () => {
    const key = await stack.key();
    const viewer = await colleague(stack, key, 'viewer');
    const editor = await colleague(stack, key, 'editor');
    const added = [key, viewer, editor].map(({ memberId }) => memberId);
    await stack.projected(await stack.eventStore.head());
    const path = `/v1/workspaces/${key.workspaceId}/members`;
    const { data } = await on(app).get(path, { key });
    const roles = (data as { id: string; role: string }[]).map(({ id, role }) => [id, role]);
    expect(roles).toEqual([
      [added[0], 'owner'],
      [added[1], 'viewer'],
      [added[2], 'editor'],
    ]);
    const first = await on(app).get(`${path}?limit=2`, { key });
    const second = await on(app).get(`${path}?limit=2&cursor=${first.meta.cursor}`, { key });
    expect([first.data, second.data].flat()).toEqual(data);
    expect(second.meta.cursor).toBeUndefined();
  });
});

describe('listMembers 404', () => {
  test('knows no other workspace', async () => {
    const [key, other] = [await stack.key(), await stack.key()];
    const { status } = await on(app).get(`/v1/workspaces/${other.workspaceId}/members`, { key });
    expect(status).toBe(404);
  });
});
