import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COLLECTION_ITEMS_SHOWN_MAX } from '#contracts/resources/workspace/collection.ts';
import { on } from '#tests/dsl/api.ts';
import {
  AD,
  type BoardsStack,
  boardsThrough,
  collectionsOf,
  colleague,
  crowded,
  OTHER_AD,
  openBoardsStack,
} from '#tests/operations/fixtures/boards.ts';

let stack: BoardsStack;
beforeAll(async () => {
  stack = await openBoardsStack();
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
    ['a property too many', { ...AD, note: 'x' }, 'note'],
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
