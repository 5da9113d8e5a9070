import type { FastifyInstance } from 'fastify';
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Refusal } from '#contracts/errors.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { type ApiKeyEvent, apiKeysStream } from '#contracts/events/workspace/workspace.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { ACTIVE_KEYS_MAX } from '#contracts/resources/workspace/api-key.ts';
import type { Scope } from '#contracts/values/access.ts';
import { REVOKED_KEYS_KEPT } from '#domain/workspace/api-keys.ts';
import { LIVE_KEY, sha256Of } from '#application/access/key-format.ts';
import { openMemberVault } from '#application/vault/member-vault.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { addPerson, erasePerson, issueKey } from '#services/ops/workspaces.ts';
import { on } from '#tests/dsl/api.ts';
import { type ApiStack, type Key, openApiStack } from '../fixtures/stack.ts';

let stack: ApiStack;
let app: FastifyInstance;
let other: FastifyInstance;

beforeAll(async () => {
  stack = await openApiStack();
  [app, other] = await Promise.all([stack.api(), stack.api()]);
});
afterAll(() => stack[Symbol.asyncDispose]());

type Created = { key_id: string; api_key: string; scopes: Scope[]; name: string };
type Listed = Created & { last_used_at: string | null; status: string; revoked_at: string | null };

const pathOf = (key: Key): string => `/v1/workspaces/${key.workspaceId}/api-keys`;
const SCOPES_OF_NEW: readonly Scope[] = ['me:read', 'brands:read'];

const create = (key: Key, body: object = {}, headers: Record<string, string> = {}) =>
  on(app).post(pathOf(key), { key, headers, body: { name: 'ci', scopes: SCOPES_OF_NEW, ...body } });
const rotate = (key: Key, keyId: string, body: unknown = {}, headers: Record<string, string> = {}) =>
  on(app).post(`${pathOf(key)}/${keyId}/rotate`, { key, headers, body });
const revoke = (key: Key, keyId: string, body: unknown = {}) =>
  on(app).delete(`${pathOf(key)}/${keyId}`, { key, body });
const revokeUnused = (server: FastifyInstance, key: Key, days: unknown = 3) =>
  on(server).post(`${pathOf(key)}/revoke-unused`, { key, body: { days } });
const list = async (key: Key): Promise<readonly Listed[]> =>
  (await on(app).get(`${pathOf(key)}?limit=100`, { key })).data;
const statusOf = async (server: FastifyInstance, text: string): Promise<number> =>
  (await on(server).get('/v1/me', { key: text })).status;

const recordedOf = async (key: Key): Promise<readonly RecordedEvent<ApiKeyEvent>[]> => {
  const events: RecordedEvent<ApiKeyEvent>[] = [];
  for await (const event of stack.eventStore.read<ApiKeyEvent>(apiKeysStream(key.workspaceId)))
    events.push(event);
  return events;
};
const eventsOf = async (key: Key): Promise<readonly string[]> =>
  (await recordedOf(key)).map(({ type }) => type);

const daysLater = (days: number): Promise<FastifyInstance> =>
  stack.api({ clock: { now: () => new Date(Date.now() + days * 86_400_000) } });

const crowdedApi = (): Promise<FastifyInstance> => {
  const load = (): Promise<never> => Promise.reject(new Refusal('changed_meanwhile', 'Try again.'));
  return stack.api({ eventStore: { ...stack.eventStore, load } });
};

describe('createApiKey 201', () => {
  test('returns the key once, works in every process right away, and records only its hash', async () => {
    const key = await stack.key();
    const reply = await create(key, { scopes: ['me:read', 'brands:read', 'me:read'] });
    expect(reply.status).toBe(201);
    const created = reply.data as Created;
    expect(LIVE_KEY.isValid(created.api_key)).toBe(true);
    expect(created).toMatchObject({
      workspace_id: key.workspaceId,
      name: 'ci',
      last_four: created.api_key.slice(-4),
      scopes: ['brands:read', 'me:read'],
      status: 'active',
      created_by: { id: key.memberId, name: 'Ada' },
      replaces: null,
      last_used_at: null,
      revoked_at: null,
    });
    const me = await on(other).get('/v1/me', { key: created.api_key });
    expect(me.data).toMatchObject({
      key_id: created.key_id,
      member: { id: key.memberId },
      scopes: ['brands:read', 'me:read'],
    });
    const events = await recordedOf(key);
    expect(events.at(-1)).toMatchObject({
      data: { sha256: sha256Of(created.api_key) },
      metadata: { actor: { kind: 'api_key', id: key.keyId } },
    });
    expect(JSON.stringify(events.map(({ data }) => data))).not.toContain(created.api_key);
  });

  test('creates one key per idempotency key and repeats the reply', async () => {
    const key = await stack.key();
    const headers = { 'idempotency-key': randomUUID() };
    const [first, again] = [await create(key, {}, headers), await create(key, {}, headers)];
    expect(again.data).toEqual(first.data);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(await eventsOf(key)).toEqual(['ApiKeyIssued', 'ApiKeyIssued']);
    const { rows } = await stack.pool.query<{ answer: string }>(
      'select answer from access.idempotency where key = $1',
      [headers['idempotency-key']],
    );
    const { api_key } = first.data as Created;
    expect(rows).toHaveLength(1);
    expect(Buffer.from(rows[0]?.answer ?? '', 'base64').toString('latin1')).not.toContain(api_key);
    expect(rows[0]?.answer).not.toContain(api_key);
  });
});

describe('createApiKey 400', () => {
  test.each([
    ['no name', { name: undefined }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a blank name', { name: '  ' }, 'name'],
    ['a name with a line break', { name: 'a\nb' }, 'name'],
    ['half a character', { name: '\ud83d' }, 'name'],
    ['a name too long', { name: 'x'.repeat(101) }, 'name'],
    ['no scopes', { scopes: [] }, 'scopes'],
    ['a scope nobody knows', { scopes: ['spend:read'] }, 'scopes.0'],
  ])('rejects %s and appends no event', async (_name, body, path) => {
    const key = await stack.key();
    const reply = await create(key, body);
    expect(reply.status).toBe(400);
    expect(new Set(reply.error.details?.map((detail) => detail.path))).toEqual(new Set([path]));
    expect(await eventsOf(key)).toEqual(['ApiKeyIssued']);
  });
});

describe('createApiKey 403', () => {
  test('rejects scopes that the calling key or the role of its member lacks', async () => {
    const narrow = await stack.key({ scopes: ['apiKeys:write', 'me:read'] });
    const reply = await create(narrow, { scopes: ['me:read', 'brands:read'] });
    expect(reply.status).toBe(403);
    expect(reply.error.message).toContain('brands:read');
    const editor = await stack.key({ role: 'editor' });
    expect((await create(editor)).status).toBe(403);
    expect(await eventsOf(narrow)).toEqual(['ApiKeyIssued']);
  });
});

describe('createApiKey 404', () => {
  test('rejects a key of another workspace', async () => {
    const [key, stranger] = await Promise.all([stack.key(), stack.key()]);
    const body = { name: 'ci', scopes: SCOPES_OF_NEW };
    expect((await on(app).post(pathOf(stranger), { key, body })).status).toBe(404);
    expect(await eventsOf(stranger)).toEqual(['ApiKeyIssued']);
  });
});

describe('createApiKey 409', () => {
  test('rejects a key beyond the limit of active keys until one is revoked', async () => {
    const key = await stack.key();
    const issued = (await recordedOf(key))[0] as RecordedEvent<
      Extract<ApiKeyEvent, { type: 'ApiKeyIssued' }>
    >;
    const fill = Array.from({ length: ACTIVE_KEYS_MAX - 1 }, (_, place) => ({
      type: issued.type,
      data: { ...issued.data, key_id: `key_${place}`, sha256: `of nothing ${place}` },
    }));
    await stack.eventStore.append(issued.stream, 0n, fill, issued.metadata, randomUUID());
    const reply = await create(key);
    expect(reply.status).toBe(409);
    expect(reply.error.message).toContain(String(ACTIVE_KEYS_MAX));
    expect((await revoke(key, 'key_0')).data).toMatchObject({ removed: true });
    expect((await create(key)).status).toBe(201);
  });

  test('rejects an idempotency key that was used with another body', async () => {
    const key = await stack.key();
    const headers = { 'idempotency-key': randomUUID() };
    await create(key, {}, headers);
    expect((await create(key, { name: 'other' }, headers)).status).toBe(409);
  });
});

describe('listApiKeys 200', () => {
  test('lists keys newest first over all pages, including revoked ones, without key texts and hashes', async () => {
    const key = await stack.key();
    const made: Created[] = [];
    for (const name of ['one', 'two', 'three']) made.push((await create(key, { name })).data);
    await revoke(key, made[1]?.key_id ?? '');
    const seen: Listed[] = [];
    let cursor = '';
    do {
      const reply = await on(app).get(`${pathOf(key)}?limit=3${cursor}`, { key });
      for (const { api_key } of made) {
        expect(reply.body).not.toContain(api_key);
        expect(reply.body).not.toContain(sha256Of(api_key));
      }
      seen.push(...(reply.data as Listed[]));
      cursor = reply.meta.cursor === undefined ? '' : `&cursor=${reply.meta.cursor}`;
    } while (cursor);
    expect(seen.map(({ name, status }) => [name, status])).toEqual([
      ['three', 'active'],
      ['two', 'revoked'],
      ['one', 'active'],
      ['tests', 'active'],
    ]);
    expect(seen[1]?.revoked_at).not.toBeNull();
    const { api_key: _, ...record } = made[0] as Created;
    expect(seen[2]).toEqual(record);
  });

  test('shows the last use of a key, which is written in batches', async () => {
    const key = await stack.key();
    const { api_key, key_id } = (await create(key)).data as Created;
    const lastUse = async () => (await list(key)).find((one) => one.key_id === key_id)?.last_used_at;
    expect(await lastUse()).toBeNull();
    const before = new Date().toISOString();
    expect(await statusOf(other, api_key)).toBe(200);
    await expect.poll(lastUse, { timeout: 60_000 }).not.toBeNull();
    expect(((await lastUse()) ?? '') >= before).toBe(true);
    const written = async () =>
      (
        await stack.pool.query('select xmin::text, last_used_at from access.key_use where key_id = $1', [
          key_id,
        ])
      ).rows;
    const first = await written();
    for (let count = 0; count < 20; count += 1) await statusOf(other, api_key);
    expect(await written()).toEqual(first);
  });
});

describe('listApiKeys 400', () => {
  test('rejects a cursor of another workspace and a page size above the limit', async () => {
    const [key, stranger] = await Promise.all([stack.key(), stack.key()]);
    await create(key);
    const { meta } = await on(app).get(`${pathOf(key)}?limit=1`, { key });
    const foreign = `${pathOf(stranger)}?limit=1&cursor=${meta.cursor}`;
    expect((await on(app).get(foreign, { key: stranger })).status).toBe(400);
    expect((await on(app).get(`${pathOf(key)}?limit=101`, { key })).status).toBe(400);
  });
});

describe('rotateApiKey 201', () => {
  test('accepts the replacement and rejects the old key in every process from the next request on', async () => {
    const key = await stack.key();
    const old = (await create(key)).data as Created;
    expect(await statusOf(other, old.api_key)).toBe(200);
    const reply = await rotate(key, old.key_id);
    expect(reply.status).toBe(201);
    const fresh = reply.data as Created;
    expect(fresh).toMatchObject({ name: 'ci', scopes: old.scopes, replaces: old.key_id, status: 'active' });
    expect(fresh.key_id).not.toBe(old.key_id);
    for (const server of [app, other]) {
      expect(await statusOf(server, old.api_key)).toBe(401);
      expect(await statusOf(server, fresh.api_key)).toBe(200);
    }
    const [issued, revoked] = (await recordedOf(key)).toReversed();
    expect([revoked, issued]).toMatchObject([
      { type: 'ApiKeyRevoked', data: { key_id: old.key_id, reason: 'rotated' } },
      { type: 'ApiKeyIssued', data: { key_id: fresh.key_id } },
    ]);
    expect(issued?.metadata.$causationId).toBe(revoked?.metadata.$causationId);
  });

  test('lets a key rotate itself', async () => {
    const key = await stack.key();
    const reply = await rotate(key, key.keyId);
    expect(reply.status).toBe(201);
    expect(await statusOf(app, key.text)).toBe(401);
    expect(await statusOf(app, (reply.data as Created).api_key)).toBe(200);
  });

  test('lets exactly one of several concurrent rotations succeed', async () => {
    const key = await stack.key();
    const { key_id } = (await create(key)).data as Created;
    const replies = await Promise.all(Array.from({ length: 8 }, () => rotate(key, key_id)));
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      201,
      ...Array.from({ length: 7 }, () => 409),
    ]);
    expect((await list(key)).filter(({ status }) => status === 'active')).toHaveLength(2);
  });
});

describe('rotateApiKey 403', () => {
  test('rejects the rotation of a key with scopes that the calling key lacks', async () => {
    const key = await stack.key();
    const narrow = (await create(key, { scopes: ['apiKeys:write'] })).data as Created;
    const reply = await on(app).post(`${pathOf(key)}/${key.keyId}/rotate`, { key: narrow.api_key, body: {} });
    expect(reply.status).toBe(403);
    expect(await statusOf(app, key.text)).toBe(200);
  });
});

describe('rotateApiKey 404', () => {
  test('rejects an unknown key', async () => {
    const [key, stranger] = await Promise.all([stack.key(), stack.key()]);
    expect((await rotate(key, 'key_0000000000000000')).status).toBe(404);
    expect((await rotate(key, stranger.keyId)).status).toBe(404);
    expect(await statusOf(app, stranger.text)).toBe(200);
  });
});

describe('rotateApiKey 409', () => {
  test('rejects a revoked key', async () => {
    const key = await stack.key();
    const { key_id } = (await create(key)).data as Created;
    await revoke(key, key_id);
    const reply = await rotate(key, key_id);
    expect(reply.status).toBe(409);
    expect(reply.error.type).toBe('conflict');
  });
  test('rejects a key that was revoked before those whose ids the state holds', async () => {
    const key = await stack.key();
    const { key_id } = (await create(key)).data as Created;
    await revoke(key, key_id);
    const before = await recordedOf(key);
    const [issued] = before as readonly RecordedEvent<Extract<ApiKeyEvent, { type: 'ApiKeyIssued' }>>[];
    if (!issued) throw new Error('the calling key is missing');
    const later = Array.from({ length: 2 * REVOKED_KEYS_KEPT }, (_, place) => `key_later_${place}`);
    const { workspace_id, issued_at: revoked_at } = issued.data;
    const events: ApiKeyEvent[] = later.flatMap((id) => [
      { type: 'ApiKeyIssued', data: { ...issued.data, key_id: id, sha256: `of nothing ${id}` } },
      { type: 'ApiKeyRevoked', data: { workspace_id, key_id: id, reason: 'unused', revoked_at } },
    ]);
    const revision = BigInt(before.length - 1);
    await stack.eventStore.append(issued.stream, revision, events, issued.metadata, randomUUID());
    expect((await rotate(key, key_id)).status).toBe(409);
  });
});

describe('revokeApiKey 200', () => {
  test('revokes once, and every process rejects the key from the next request on', async () => {
    const key = await stack.key();
    const { key_id, api_key } = (await create(key)).data as Created;
    expect(await statusOf(other, api_key)).toBe(200);
    const answer = { key_id, workspace_id: key.workspaceId };
    expect((await revoke(key, key_id)).data).toEqual({ ...answer, removed: true });
    for (const server of [app, other]) expect(await statusOf(server, api_key)).toBe(401);
    expect((await revoke(key, key_id)).data).toEqual({ ...answer, removed: false });
    expect(await eventsOf(key)).toEqual(['ApiKeyIssued', 'ApiKeyIssued', 'ApiKeyRevoked']);
  });

  test('removes nothing for an unknown key and for a key of another workspace', async () => {
    const [key, stranger] = await Promise.all([stack.key(), stack.key()]);
    expect((await revoke(key, 'key_0000000000000000')).data).toMatchObject({ removed: false });
    expect((await revoke(key, stranger.keyId)).data).toMatchObject({ removed: false });
    expect(await statusOf(app, stranger.text)).toBe(200);
  });

  test('lets a key revoke itself', async () => {
    const key = await stack.key();
    expect((await revoke(key, key.keyId)).data).toMatchObject({ removed: true });
    expect(await statusOf(app, key.text)).toBe(401);
  });
});

describe('revokeApiKey 404', () => {
  test('rejects a key of another workspace', async () => {
    const [key, stranger] = await Promise.all([stack.key(), stack.key()]);
    const reply = await on(app).delete(`${pathOf(stranger)}/${stranger.keyId}`, { key, body: {} });
    expect(reply.status).toBe(404);
    expect(await statusOf(app, stranger.text)).toBe(200);
  });
});

describe('revokeApiKey 409', () => {
  test('rejects the command when concurrent changes exhaust all retries', async () => {
    const key = await stack.key();
    const path = `${pathOf(key)}/${key.keyId}`;
    expect((await on(await crowdedApi()).delete(path, { key, body: {} })).status).toBe(409);
  });
});

describe('revokeUnusedApiKeys 200', () => {
  test('revokes keys unused for the given days, counted from creation when never used, except the calling key', async () => {
    const key = await stack.key();
    const never = (await create(key, { name: 'never' })).data as Created;
    const used = (await create(key, { name: 'used' })).data as Created;
    const later = await daysLater(3);
    expect((await on(later).get('/v1/me', { key: used.api_key })).status).toBe(200);
    const reply = await revokeUnused(later, key);
    expect(reply.data).toEqual({
      workspace_id: key.workspaceId,
      days: 3,
      revoked: [{ key_id: never.key_id, name: 'never', last_used_at: null }],
    });
    expect(await statusOf(other, never.api_key)).toBe(401);
    for (const text of [used.api_key, key.text]) expect(await statusOf(other, text)).toBe(200);
    expect((await revokeUnused(later, key)).data).toMatchObject({ revoked: [] });
  });

  test('keeps keys that are younger than the given days', async () => {
    const key = await stack.key();
    const { api_key } = (await create(key)).data as Created;
    expect((await revokeUnused(app, key, 1)).data).toMatchObject({ revoked: [] });
    expect(await statusOf(app, api_key)).toBe(200);
  });

  test('counts a use in another process', async () => {
    const key = await stack.key();
    const { api_key, key_id } = (await create(key)).data as Created;
    const [later, elsewhere] = await Promise.all([daysLater(3), daysLater(3)]);
    await statusOf(elsewhere, api_key);
    const written = async (): Promise<boolean> =>
      (await list(key)).some((one) => one.key_id === key_id && one.last_used_at !== null);
    await expect.poll(written, { timeout: 60_000 }).toBe(true);
    expect((await revokeUnused(later, key)).data).toMatchObject({ revoked: [] });
  });
});

describe('revokeUnusedApiKeys 400', () => {
  test.each([0, 366, 1.5, '3', null])('rejects %s days', async (days) => {
    const key = await stack.key();
    const reply = await revokeUnused(app, key, days);
    expect(reply.error.details).toMatchObject([{ path: 'days' }]);
  });
});

describe('revokeUnusedApiKeys 404', () => {
  test('rejects a key of another workspace', async () => {
    const [key, stranger] = await Promise.all([stack.key(), stack.key()]);
    const path = `${pathOf(stranger)}/revoke-unused`;
    expect((await on(await daysLater(9)).post(path, { key, body: { days: 1 } })).status).toBe(404);
    expect(await statusOf(app, stranger.text)).toBe(200);
  });
});

describe('revokeUnusedApiKeys 409', () => {
  test('rejects the command when concurrent changes exhaust all retries', async () => {
    const key = await stack.key();
    expect((await revokeUnused(await crowdedApi(), key)).status).toBe(409);
  });
});

describe('created_by', () => {
  test('is the decrypted name of the member, and null after an erasure', async () => {
    const memberVault = await openMemberVault(stack.pool, randomBytes(32).toString('base64'));
    const [named, unnamed] = await Promise.all([stack.api({ memberVault }), stack.api()]);
    const owner = await stack.key();
    const { workspaceId } = owner;
    const dependencies = { ...stack, memberVault, actor: { kind: 'service', id: 'tests' } } as const;
    const ada = { name: 'Ada "$1"', email: 'ada@shop.example' };
    const { member_id } = await addPerson(dependencies, workspaceId, ada, 'owner');
    const issued = await issueKey(dependencies, workspaceId, member_id, 'own', 'all');
    const key: Key = { workspaceId, memberId: member_id, keyId: issued.key_id, text: issued.api_key };
    const body = { name: `"created_by":{"id":"${member_id}","name":null}`, scopes: SCOPES_OF_NEW };
    const created = await on(named).post(pathOf(key), { key, body });
    const creator = { id: member_id, name: ada.name };
    expect(created.data).toMatchObject({ name: body.name, created_by: creator });
    const listed = async (server: FastifyInstance, by: Key) =>
      (await on(server).get(pathOf(by), { key: by })).data as { name: string; created_by: object }[];
    expect((await listed(named, key)).slice(0, 2)).toMatchObject([
      { name: body.name, created_by: creator },
      { name: 'own', created_by: creator },
    ]);
    const nameless = [
      { created_by: { id: member_id, name: null } },
      { created_by: { id: member_id, name: null } },
    ];
    expect((await listed(unnamed, key)).slice(0, 2)).toMatchObject(nameless);
    await erasePerson(dependencies, workspaceId, member_id);
    expect((await listed(named, owner)).slice(0, 2)).toMatchObject(nameless);
  });

  test('is null when the name cannot be read, and the key is still returned', async () => {
    await using reads = openReadDatabase(stack.environment['DATABASE_URL'] ?? '');
    const db: ReadDatabase = {
      slow: (asked) => reads.slow(asked),
      query: async (asked) => {
        if (asked.sql.includes('workspaces.member')) throw new Error('the names are gone');
        return reads.query(asked);
      },
    };
    const nameless = await stack.api({ db });
    const key = await stack.key();
    const body = { name: 'ci', scopes: SCOPES_OF_NEW };
    const created = await on(nameless).post(pathOf(key), { key, body });
    expect(created).toMatchObject({
      status: 201,
      data: { created_by: { id: key.memberId, name: null } },
    });
    expect(await statusOf(app, (created.data as Created).api_key)).toBe(200);
  });
});
