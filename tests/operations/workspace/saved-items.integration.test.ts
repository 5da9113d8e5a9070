import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { savedStream } from '#contracts/events/workspace/saved-items.ts';
import { SAVED_ITEMS_MAX } from '#contracts/resources/workspace/saved-item.ts';
import { on } from '#tests/dsl/api.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { AD, colleague, crowded, everyPage, OTHER_AD, savedOf } from '../fixtures/boards.ts';
import { type Key, openApiStack } from '../fixtures/stack.ts';

const stack = await disposeAfterAll(openApiStack());
const app = await stack.api();

const BRAND = { item_type: 'brand', item_key: 'c1f2b6a0-52a7-5b7e-9c4b-1f0d5a7e3c11' } as const;

const save = (key: Key, item: object) => on(app).post(savedOf(key), { key, body: item });
const unsave = (key: Key, type: string, itemKey: string, body: unknown = {}) =>
  on(app).delete(`${savedOf(key)}/${type}/${itemKey}`, { key, body });

const eventsOf = async (key: Key): Promise<readonly string[]> => {
  const types: string[] = [];
  for await (const { type } of stack.eventStore.read(savedStream(key.workspaceId, AD))) types.push(type);
  return types;
};

describe('listSavedItems 200', () => {
  test('lists saved items of all types or of one, newest first over all pages', async () => {
    const key = await stack.key();
    for (const item of [AD, BRAND, OTHER_AD]) await save(key, item);
    expect(await everyPage(app, key, savedOf(key), 1)).toMatchObject([OTHER_AD, BRAND, AD]);
    expect(await everyPage(app, key, `${savedOf(key)}?item_type=ad`, 1)).toMatchObject([OTHER_AD, AD]);
    expect(await everyPage(app, key, `${savedOf(key)}?item_type=page`)).toEqual([]);
  });

  test('neither skips nor repeats items that were saved at the same time', async () => {
    const key = await stack.key();
    const moment = new Date();
    const still = await stack.api({ clock: { now: () => moment } });
    const keys = Array.from({ length: 9 }, (_, place) => `${10_000 + place}`);
    await Promise.all(
      keys.map((item_key) => on(still).post(savedOf(key), { key, body: { item_type: 'ad', item_key } })),
    );
    const seen = await everyPage<{ item_key: string }>(app, key, savedOf(key), 2);
    expect(seen.map(({ item_key }) => item_key)).toEqual(keys.toReversed());
  });
});

describe('listSavedItems 400', () => {
  test('rejects an unknown type, and a cursor of another type', async () => {
    const key = await stack.key();
    for (const item of [AD, OTHER_AD]) await save(key, item);
    expect((await on(app).get(`${savedOf(key)}?item_type=video`, { key })).status).toBe(400);
    const { meta } = await on(app).get(`${savedOf(key)}?limit=1`, { key });
    const url = `${savedOf(key)}?limit=1&item_type=ad&cursor=${meta.cursor}`;
    expect((await on(app).get(url, { key })).status).toBe(400);
  });
});

describe('saveItem 201', () => {
  test('saves an item once per workspace, and returns the existing item on repetition without an event', async () => {
    const key = await stack.key();
    const other = await colleague(stack, key);
    const first = await save(key, AD);
    expect(first.data).toMatchObject({ ...AD, created_by: key.memberId });
    const again = await save(other, AD);
    expect(again.status).toBe(201);
    expect(again.data).toEqual(first.data);
    expect(await everyPage(app, other, savedOf(key))).toEqual([first.data]);
    expect(await eventsOf(key)).toEqual(['ItemSaved']);
  });

  test('treats uuids as equal regardless of case', async () => {
    const key = await stack.key();
    await save(key, { ...BRAND, item_key: BRAND.item_key.toUpperCase() });
    expect((await save(key, BRAND)).data).toMatchObject(BRAND);
    expect(await everyPage(app, key, savedOf(key))).toHaveLength(1);
  });
});

describe('saveItem 400', () => {
  test.each([
    ['another type', { item_type: 'collection', item_key: randomUUID() }, 'item_type'],
    ['an ad that is no number', { item_type: 'ad', item_key: 'abc' }, 'item_key'],
    ['a number for a key', { item_type: 'ad', item_key: 1_203_847 }, 'item_key'],
  ])('rejects %s', async (_name, item, path) => {
    const key = await stack.key();
    const reply = await save(key, item);
    expect(reply.status).toBe(400);
    expect(reply.error.details).toMatchObject([{ path }]);
  });
});

describe('saveItem 404', () => {
  test('rejects a key of another workspace', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    expect((await on(app).post(savedOf(other), { key, body: AD })).status).toBe(404);
    expect(await eventsOf(other)).toEqual([]);
  });
});

describe('saveItem 409', () => {
  test('rejects a new item at the limit of the workspace, and accepts an item that is already saved', async () => {
    const key = await stack.key();
    await save(key, AD);
    await stack.pool.query(
      `insert into saved.item select $1, 'ad', (100000 + place)::text, '', '' from generate_series(2, $2) place`,
      [key.workspaceId, SAVED_ITEMS_MAX],
    );
    expect((await save(key, OTHER_AD)).error.type).toBe('conflict');
    expect((await save(key, AD)).status).toBe(201);
    await unsave(key, AD.item_type, AD.item_key);
    expect((await save(key, OTHER_AD)).status).toBe(201);
  });
});

describe('unsaveItem 200', () => {
  test('removes an item once; an item that is saved again is the newest', async () => {
    const key = await stack.key();
    for (const item of [AD, BRAND]) await save(key, item);
    const removed = { workspace_id: key.workspaceId, ...AD };
    expect((await unsave(key, 'ad', AD.item_key)).data).toEqual({ ...removed, removed: true });
    expect(await everyPage(app, key, savedOf(key))).toMatchObject([BRAND]);
    expect((await unsave(key, 'ad', AD.item_key)).data).toEqual({ ...removed, removed: false });
    await save(key, AD);
    expect(await everyPage(app, key, savedOf(key))).toMatchObject([AD, BRAND]);
    expect(await eventsOf(key)).toEqual(['ItemSaved', 'ItemUnsaved', 'ItemSaved']);
  });
});

describe('unsaveItem 400', () => {
  test('rejects a key of another format, a missing body, and a body with properties', async () => {
    const key = await stack.key();
    await save(key, AD);
    expect((await unsave(key, 'brand', AD.item_key)).error.details).toMatchObject([{ path: 'itemKey' }]);
    expect((await on(app).delete(`${savedOf(key)}/ad/${AD.item_key}`, { key })).status).toBe(400);
    expect((await unsave(key, 'ad', AD.item_key, { all: true })).error.details).toMatchObject([
      { path: 'all' },
    ]);
    expect(await eventsOf(key)).toEqual(['ItemSaved']);
  });
});

describe('unsaveItem 409', () => {
  test('rejects the command when concurrent changes exhaust all retries', async () => {
    const key = await stack.key();
    const url = `${savedOf(key)}/ad/${AD.item_key}`;
    const reply = await on(await crowded(stack)).delete(url, { key, body: {} });
    expect(reply.error.type).toBe('conflict');
  });
});
