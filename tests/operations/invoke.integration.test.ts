import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Refusal } from '#contracts/errors.ts';
import { sha256Of } from '#application/access/key-format.ts';
import type { Caller } from '#application/access/key-lease-cache.ts';
import { getBrand, listBrands } from '#operations/brands/brands.ts';
import { listCollectionItems } from '#operations/collections.ts';
import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';
import { invoke } from '#operations/invoke.ts';
import { listTrackedBrands, trackBrand } from '#operations/tracked-brands.ts';
import { on } from '#tests/dsl/api.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import type { CorpusBrand } from './fixtures/corpus.ts';
import { type Key, openApiStack } from './fixtures/stack.ts';
import { eventsOf, pathOf, trackingThrough } from './fixtures/tracking.ts';

const COMMAND_ID = 'b8a6c1de-4f5f-4d4e-9b0e-2a7c3d1e5f60';

const stack = await disposeAfterAll(openApiStack());
const [app, brands] = await Promise.all([stack.api(), stack.seed(['alpha', 'beta', 'gamma'])]);
const dependencies = stack.operations();
const alpha = brands[0] as CorpusBrand;

const callerOf = async (key: Key): Promise<Caller> => {
  const caller = await dependencies.callers.find(sha256Of(key.text));
  if (!caller) throw new Error('the key of the test is unknown');
  return caller;
};

const refusalOf = async (call: Promise<unknown>): Promise<Refusal> => {
  const error: unknown = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Refusal)) throw new Error('not refused', { cause: error });
  return error;
};

describe('invoke', () => {
  test('returns the same data and time as HTTP for a read of the corpus', async () => {
    const key = await stack.key();
    const params = { brandId: alpha.id };
    const reply = await invoke(getBrand, { params }, await callerOf(key), dependencies);
    const { data, meta } = await on(app).get(`/v1/brands/${alpha.id}`, { key });
    expect(JSON.parse(reply.data)).toEqual(data);
    expect(reply.data).not.toContain('\u0001');
    expect(new Date(reply.asOf ?? '').toISOString()).toBe(new Date(meta.as_of).toISOString());
    expect(reply.cursor).toBeNull();
  });

  test('shares one handler run between equal concurrent reads', async () => {
    const caller = await callerOf(await stack.key());
    const call = () => invoke(getBrand, { params: { brandId: alpha.id } }, caller, dependencies);
    let reads = 0;
    const counted: OperationDependencies = {
      ...dependencies,
      coalesceReads: (readKey, read) =>
        dependencies.coalesceReads(readKey, () => {
          reads += 1;
          return read();
        }),
    };
    const both = () => invoke(getBrand, { params: { brandId: alpha.id } }, caller, counted);
    const [one, other] = await Promise.all([both(), both()]);
    expect(one).toEqual(other);
    expect(one).toEqual(await call());
    expect(reads).toBe(1);
  });

  test('shares no read of a workspace between keys of one member with other scopes', async () => {
    const key = await stack.key();
    const body = { name: 'narrow', scopes: ['collections:read'] };
    const issued = await on(app).post(`/v1/workspaces/${key.workspaceId}/api-keys`, { key, body });
    const { api_key: text } = issued.data as { api_key: string };
    const first_item = { item_type: 'brand', item_key: alpha.id };
    const url = `/v1/workspaces/${key.workspaceId}/collections`;
    const { data } = await on(app).post(url, { key, body: { name: 'x', first_item } });
    const params = { ws: key.workspaceId, collectionId: (data as { id: string }).id };
    const callers = [await callerOf(key), await callerOf({ ...key, text })];
    const input = { params, query: { include: 'record' } };
    const replies = await Promise.all(
      callers.map((caller) => invoke(listCollectionItems, input, caller, dependencies)),
    );
    expect(replies.map((reply) => JSON.parse(reply.data) as unknown)).toMatchObject([
      [{ record: { id: alpha.id } }],
      [{ record: null }],
    ]);
  });

  test('appends the events of a write and returns the same data and position as HTTP', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    const input = { params: { ws: key.workspaceId }, body: { brand_id: alpha.id, cadence: 'daily' } };
    const reply = await invoke(trackBrand, input, await callerOf(key), dependencies);
    const overHttp = await trackingThrough(app).track(other, alpha.id, 'daily');
    const { workspace_id, created_at, ...written } = JSON.parse(reply.data) as Record<string, unknown>;
    const { workspace_id: _, created_at: __, ...expected } = overHttp.data as Record<string, unknown>;
    expect(written).toEqual(expected);
    expect([workspace_id, typeof created_at]).toEqual([key.workspaceId, 'string']);
    expect(await eventsOf(stack, key)).toEqual(await eventsOf(stack, other));

    const headers = { 'min-position': String(reply.position) };
    expect((await on(app).get(pathOf(key), { key, headers })).data).toHaveLength(1);
  });

  test('appends the events of a retried write once', async () => {
    const key = await stack.key();
    const caller = await callerOf(key);
    const input = { params: { ws: key.workspaceId }, body: { brand_id: alpha.id, cadence: 'daily' } };
    const first = await invoke(trackBrand, input, caller, dependencies, { commandId: COMMAND_ID });
    const retry = { commandId: COMMAND_ID, mayRepeat: true };
    const second = await invoke(trackBrand, input, caller, dependencies, retry);
    expect(second.data).toBe(first.data);
    expect(await eventsOf(stack, key)).toEqual(['BrandTracked']);
  });

  test('appends the events of a retried write once, also when others have undone it meanwhile', async () => {
    const key = await stack.key();
    const caller = await callerOf(key);
    const input = { params: { ws: key.workspaceId }, body: { brand_id: alpha.id, cadence: 'daily' } };
    const commandId = randomUUID();
    const first = await invoke(trackBrand, input, caller, dependencies, { commandId });
    await trackingThrough(app).untrack(key, alpha.id);
    const second = await invoke(trackBrand, input, caller, dependencies, { commandId, mayRepeat: true });
    expect(second.data).toBe(first.data);
    expect(await eventsOf(stack, key)).toEqual(['BrandTracked', 'BrandUntracked']);
  });

  test('pages through a list with cursors that HTTP accepts, and accepts those of HTTP', async () => {
    const key = await stack.key();
    const caller = await callerOf(key);
    for (const { id } of brands) await trackingThrough(app).track(key, id);
    const params = { ws: key.workspaceId };
    const page = (cursor?: string | null) =>
      invoke(
        listTrackedBrands,
        { params, query: { limit: '1', ...(cursor ? { cursor } : {}) } },
        caller,
        dependencies,
      );
    const http = (cursor: string) => on(app).get(`${pathOf(key)}?limit=1${cursor}`, { key });

    const firstOverHttp = await http('');
    const first = await page();
    expect(JSON.parse(first.data)).toEqual(firstOverHttp.data);
    expect(first.cursor).toBe(firstOverHttp.meta.cursor);

    const second = await page(firstOverHttp.meta.cursor);
    expect(JSON.parse(second.data)).toEqual((await http(`&cursor=${first.cursor}`)).data);
    const third = await page(second.cursor);
    expect(third.cursor).toBeNull();
    const ids = [first, second, third].flatMap(({ data }) =>
      (JSON.parse(data) as { brand: { id: string } }[]).map(({ brand }) => brand.id),
    );
    expect(ids).toEqual(brands.map(({ id }) => id).toReversed());
  });

  test('accepts query values with the types of the contract', async () => {
    const caller = await callerOf(await stack.key());
    const typed = await invoke(listBrands, { query: { limit: 2 } }, caller, dependencies);
    const text = await invoke(listBrands, { query: { limit: '2' } }, caller, dependencies);
    expect(typed).toEqual(text);
    expect(typed.count).toBe(2);
  });

  test('refuses another workspace with not_found, before scope and input are checked', async () => {
    const [key, other] = await Promise.all([stack.key({ scopes: ['me:read'] }), stack.key()]);
    const input = { params: { ws: other.workspaceId }, query: { limit: 0 } };
    const refusal = await refusalOf(invoke(listTrackedBrands, input, await callerOf(key), dependencies));
    expect(refusal.code).toBe('not_found');
    const overHttp = await on(app).get(`${pathOf(other)}?limit=0`, { key });
    expect([overHttp.status, overHttp.error.message]).toEqual([404, refusal.message]);
  });

  test('refuses a missing scope, before input is checked', async () => {
    const key = await stack.key({ scopes: ['me:read'] });
    const input = { params: { ws: key.workspaceId }, query: { limit: 0 } };
    const refusal = await refusalOf(invoke(listTrackedBrands, input, await callerOf(key), dependencies));
    expect(refusal.code).toBe('scope_missing');
    const overHttp = await on(app).get(`${pathOf(key)}?limit=0`, { key });
    expect([overHttp.status, overHttp.error.message]).toEqual([403, refusal.message]);
  });

  test('refuses invalid input with the same details as HTTP', async () => {
    const key = await stack.key();
    const caller = await callerOf(key);
    const query = { limit: '0', colour: 'red' };
    const params = { ws: key.workspaceId };
    const refusal = await refusalOf(invoke(listTrackedBrands, { params, query }, caller, dependencies));
    expect(refusal.code).toBe('invalid_input');
    const overHttp = await on(app).get(`${pathOf(key)}?limit=0&colour=red`, { key });
    expect([overHttp.status, overHttp.error.details]).toEqual([400, refusal.details]);
    expect(refusal.details.map(({ path }) => path)).toEqual(['limit', 'colour']);
  });

  test('refuses a missing body, a body that is not allowed, and a missing workspace', async () => {
    const key = await stack.key();
    const caller = await callerOf(key);
    const params = { ws: key.workspaceId };
    const codesOf = async (call: Promise<unknown>) => (await refusalOf(call)).details.map(({ code }) => code);
    expect(await codesOf(invoke(trackBrand, { params }, caller, dependencies))).toEqual(['body_missing']);
    expect(await codesOf(invoke(listTrackedBrands, { params, body: {} }, caller, dependencies))).toEqual([
      'body_not_allowed',
    ]);
    expect(await codesOf(invoke(listTrackedBrands, {}, caller, dependencies))).toEqual(['invalid_type']);
  });

  test('refuses a cursor of another workspace', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    for (const { id } of brands) await trackingThrough(app).track(other, id);
    const page = async (owner: Key, cursor?: string) =>
      invoke(
        listTrackedBrands,
        { params: { ws: owner.workspaceId }, query: { limit: 1, ...(cursor ? { cursor } : {}) } },
        await callerOf(owner),
        dependencies,
      );
    const { cursor } = await page(other);
    expect(cursor).toEqual(expect.any(String));
    expect((await refusalOf(page(key, cursor ?? ''))).code).toBe('invalid_cursor');
  });
});
