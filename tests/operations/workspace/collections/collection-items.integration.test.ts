import { randomUUID } from 'node:crypto';
import { omit } from 'es-toolkit/object/omit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COLLECTION_ITEMS_SHOWN_MAX } from '#contracts/resources/workspace/collection.ts';
import { landingPageOf } from '#contracts/values/links/landing-pages.ts';
import { on } from '#tests/dsl/api.ts';
import type { CorpusBrand } from '#tests/operations/fixtures/corpus.ts';
import { creativeOf, keyOf, recordCreative } from '#tests/operations/fixtures/creative-events.ts';
import type { Key } from '#tests/operations/fixtures/stack.ts';
import {
  AD,
  type BoardsStack,
  boardsThrough,
  collectionsOf,
  colleague,
  crowded,
  everyPage,
  OTHER_AD,
  openBoardsStack,
} from '#tests/operations/fixtures/boards.ts';

let stack: BoardsStack;
let alpha: CorpusBrand;
beforeAll(async () => {
  stack = await openBoardsStack();
  [alpha] = (await stack.seed(['alpha'])) as readonly [CorpusBrand];
});
afterAll(() => stack[Symbol.asyncDispose]());

describe('addCollectionItem 201', () => {
  test('adds an item once and returns the existing one on repetition, also for the first item', async () => {
    const key = await stack.key();
    const { id } = await stack.boards.created(key, { name: 'x', first_item: AD });
    const first = await stack.boards.add(key, id, OTHER_AD);
    expect(first.data).toMatchObject({
      collection_id: id,
      workspace_id: key.workspaceId,
      ...OTHER_AD,
      created_by: key.memberId,
    });
    const again = await stack.boards.add(key, id, OTHER_AD);
    expect(again.status).toBe(201);
    expect(again.data).toEqual(first.data);
    expect((await stack.boards.add(key, id, AD)).data).toMatchObject(AD);
    const [board] = await stack.boards.list(key);
    expect(board).toMatchObject({ item_count: 2, items: [OTHER_AD, AD] });
  });

  test('accepts items of each type and stores their keys in canonical form', async () => {
    const key = await stack.key();
    const { id } = await stack.boards.created(key, { name: 'x' });
    const uuid = randomUUID();
    const items = [
      { item_type: 'brand', item_key: uuid },
      { item_type: 'page', item_key: uuid },
      { item_type: 'creative', item_key: uuid },
      { item_type: 'creative_record', item_key: 'Ab_-4567890' },
    ];
    for (const { item_type, item_key } of items) {
      const written = item_type === 'creative_record' ? item_key : item_key.toUpperCase();
      const { data } = await stack.boards.add(key, id, { item_type, item_key: written });
      expect(data).toMatchObject({ item_type, item_key });
    }
    expect((await stack.boards.list(key))[0]?.items).toMatchObject(items.toReversed());
  });
});

describe('addCollectionItem 400', () => {
  test.each([
    ['another type', { item_type: 'video', item_key: '12345' }, 'item_type'],
    ['an ad that is no number', { item_type: 'ad', item_key: 'abc' }, 'item_key'],
    ['a short key', { item_type: 'creative_record', item_key: 'short' }, 'item_key'],
    ['no key', { item_type: 'ad' }, 'item_key'],
  ])('rejects %s', async (_name, item, path) => {
    const key = await stack.key();
    const { id } = await stack.boards.created(key, { name: 'x' });
    const reply = await stack.boards.add(key, id, item);
    expect(reply.status).toBe(400);
    expect(reply.error.details).toMatchObject([{ path }]);
  });
});

describe('addCollectionItem 404', () => {
  test('rejects an unknown, foreign or private collection', async () => {
    const [key, foreign] = await Promise.all([stack.key(), stack.key()]);
    const other = await colleague(stack, key, 'owner');
    const hidden = await stack.boards.created(key, { name: 'hidden', visibility: 'private' });
    const elsewhere = await stack.boards.created(foreign, { name: 'elsewhere' });
    for (const id of [randomUUID(), hidden.id, elsewhere.id]) {
      expect((await stack.boards.add(other, id, AD)).status).toBe(404);
      expect((await stack.boards.remove(other, id, AD.item_type, AD.item_key)).status).toBe(404);
    }
    expect((await stack.boards.list(key))[0]).toMatchObject({ item_count: 0 });
  });
});

describe('addCollectionItem 409', () => {
  test('rejects an idempotency key that was used with another body', async () => {
    const key = await stack.key();
    const { id } = await stack.boards.created(key, { name: 'x' });
    const headers = { 'idempotency-key': randomUUID() };
    const url = `${collectionsOf(key)}/${id}/items`;
    expect((await on(stack.app).post(url, { key, headers, body: AD })).status).toBe(201);
    expect((await on(stack.app).post(url, { key, headers, body: OTHER_AD })).status).toBe(409);
  });
});

describe('listCollectionItems 200', () => {
  test('lists all items, newest first, also beyond those that the collection shows', async () => {
    const key = await stack.key();
    const { id } = await stack.boards.created(key, { name: 'x', first_item: AD });
    const added: string[] = [AD.item_key];
    for (let count = 0; count <= COLLECTION_ITEMS_SHOWN_MAX; count += 1) {
      const item_key = `71${String(count).padStart(12, '0')}`;
      expect((await stack.boards.add(key, id, { item_type: 'ad', item_key })).status).toBe(201);
      added.push(item_key);
    }
    const [board] = await stack.boards.list(key);
    const listed = await stack.boards.items(key, id, 40);
    expect(listed.map(({ item_key }) => item_key)).toEqual(added.toReversed());
    expect(listed.slice(0, COLLECTION_ITEMS_SHOWN_MAX)).toEqual(board?.items);
    await stack.boards.remove(key, id, 'ad', added.at(-1) ?? '');
    expect((await stack.boards.items(key, id)).length).toBe(added.length - 1);
  });

  test('is empty without items', async () => {
    const key = await stack.key();
    const { id } = await stack.boards.created(key, { name: 'x' });
    expect(await stack.boards.items(key, id)).toEqual([]);
  });
});

describe('listCollectionItems 200, with records', () => {
  type WithRecord = {
    readonly item_type: string;
    readonly item_key: string;
    readonly record?: object | null;
  };
  const itemsOf = (key: Key, id: string, query = 'include=record', limit = 100) =>
    everyPage<WithRecord>(stack.app, key, `${collectionsOf(key)}/${id}/items?${query}`, limit);

  test('shows each thing as the API does elsewhere, and null for what is unknown', async () => {
    const [adId = ''] = alpha.adIds;
    const brandId = alpha.id;
    await stack.projected(await recordCreative(stack, keyOf(1), [adId]));
    const pageId = landingPageOf('https://shop.example.com/0')?.landing_page_id ?? '';
    const key = await stack.key();
    const { id } = await stack.boards.created(key, { name: 'x', first_item: AD });
    const things = [
      ['ad', adId],
      ['brand', brandId],
      ['creative', creativeOf(1, adId)],
      ['creative_record', keyOf(1)],
      ['page', pageId],
      ['page', randomUUID()],
      ['creative_record', 'unknown-creative-key'],
    ] as const;
    for (const [item_type, item_key] of things)
      expect((await stack.boards.add(key, id, { item_type, item_key })).status).toBe(201);
    const get = async (path: string): Promise<unknown> =>
      (await on(stack.app).get(`/v1/${path}`, { key })).data;
    const [ads, brands, records] = [
      (await get(`brands/${brandId}/ads`)) as { id: string }[],
      (await get('brands')) as { id: string }[],
      (await get(`creative-records?brand_id=${brandId}`)) as { creative_key: string }[],
    ];
    const listed = await itemsOf(key, id, 'include=record', 3);
    expect(listed.map(({ record }) => record).toReversed()).toEqual([
      null,
      ads.find((one) => one.id === adId),
      brands.find((one) => one.id === brandId),
      await get(`creatives/${creativeOf(1, adId)}`),
      records[0],
      await get(`pages/${pageId}`),
      null,
      null,
    ]);
    expect(listed.map((item) => omit(item, ['record']))).toEqual(await stack.boards.items(key, id));
    const { meta } = await on(stack.app).get(`${collectionsOf(key)}/${id}/items?include=record`, { key });
    expect(Date.parse(meta.as_of)).toBeLessThan(Date.now() - 1_000);
  });

  test('shows null to a key that may not read the type', async () => {
    const key = await stack.key();
    const body = { name: 'narrow', scopes: ['collections:read', 'brands:read'] };
    const issued = await on(stack.app).post(`/v1/workspaces/${key.workspaceId}/api-keys`, { key, body });
    const narrow = { ...key, text: (issued.data as { api_key: string }).api_key };
    const { id } = await stack.boards.created(key, { name: 'x' });
    await stack.boards.add(key, id, { item_type: 'ad', item_key: alpha.adIds[0] ?? '' });
    await stack.boards.add(key, id, { item_type: 'brand', item_key: alpha.id });
    const replies = await Promise.all([key, narrow, key, narrow].map((one) => itemsOf(one, id)));
    expect(replies.map((items) => items.map(({ record }) => record !== null))).toEqual([
      [true, true],
      [true, false],
      [true, true],
      [true, false],
    ]);
  });
});

describe('listCollectionItems 400', () => {
  test.each(['include=records', 'include=', 'item_type=ad'])('rejects %s', async (query) => {
    const key = await stack.key();
    const { id } = await stack.boards.created(key, { name: 'x' });
    expect((await on(stack.app).get(`${collectionsOf(key)}/${id}/items?${query}`, { key })).status).toBe(400);
  });

  test('rejects a cursor of a list without records', async () => {
    const key = await stack.key();
    const { id } = await stack.boards.created(key, { name: 'x', first_item: AD });
    await stack.boards.add(key, id, OTHER_AD);
    const url = `${collectionsOf(key)}/${id}/items?limit=1`;
    const { meta } = await on(stack.app).get(url, { key });
    expect((await on(stack.app).get(`${url}&include=record&cursor=${meta.cursor}`, { key })).status).toBe(
      400,
    );
  });
});

describe('listCollectionItems 404', () => {
  test('hides an unknown, foreign or private collection, and shows a private one to its editors', async () => {
    const [key, foreign] = await Promise.all([stack.key(), stack.key()]);
    const other = await colleague(stack, key, 'owner');
    const hidden = await stack.boards.created(key, { name: 'x', visibility: 'private', first_item: AD });
    const elsewhere = await stack.boards.created(foreign, { name: 'elsewhere' });
    for (const id of [randomUUID(), hidden.id, elsewhere.id]) {
      const reply = await on(stack.app).get(`${collectionsOf(other)}/${id}/items`, { key: other });
      expect(reply).toMatchObject({ status: 404, error: { type: 'not_found' } });
    }
    expect(await stack.boards.items(key, hidden.id)).toMatchObject([AD]);
    const shared = { editors: [other.memberId] };
    await on(stack.app).patch(`${collectionsOf(key)}/${hidden.id}`, { key, body: shared });
    expect(await stack.boards.items(other, hidden.id)).toMatchObject([AD]);
  });
});

describe('removeCollectionItem 200', () => {
  test('removes an item once, also the first item, with a percent-encoded key', async () => {
    const key = await stack.key();
    const { id } = await stack.boards.created(key, { name: 'x', first_item: AD });
    const removed = { collection_id: id, workspace_id: key.workspaceId, ...AD };
    const encoded = AD.item_key.replaceAll(/[0-9]/g, '%3$&');
    expect((await stack.boards.remove(key, id, 'ad', encoded)).data).toEqual({ ...removed, removed: true });
    expect((await stack.boards.list(key))[0]).toMatchObject({ item_count: 0, items: [] });
    expect((await stack.boards.remove(key, id, 'ad', AD.item_key)).data).toEqual({
      ...removed,
      removed: false,
    });
    await stack.boards.add(key, id, AD);
    expect((await stack.boards.list(key))[0]).toMatchObject({ item_count: 1, items: [AD] });
  });
});

describe('removeCollectionItem 400', () => {
  test('rejects an unknown type, a key of another format, and a missing body', async () => {
    const key = await stack.key();
    const { id } = await stack.boards.created(key, { name: 'x', first_item: AD });
    expect((await stack.boards.remove(key, id, 'video', '12345')).error.details).toMatchObject([
      { path: 'itemType' },
    ]);
    expect((await stack.boards.remove(key, id, 'brand', '12345')).error.details).toMatchObject([
      { path: 'itemKey' },
    ]);
    const url = `${collectionsOf(key)}/${id}/items/ad/${AD.item_key}`;
    expect((await on(stack.app).delete(url, { key })).status).toBe(400);
    expect((await stack.boards.list(key))[0]).toMatchObject({ item_count: 1 });
  });
});

describe('removeCollectionItem 409', () => {
  test('rejects the command when concurrent changes exhaust all retries', async () => {
    const key = await stack.key();
    const { id } = await stack.boards.created(key, { name: 'x', first_item: AD });
    const reply = await boardsThrough(await crowded(stack)).remove(key, id, AD.item_type, AD.item_key);
    expect(reply.error.type).toBe('conflict');
  });
});
