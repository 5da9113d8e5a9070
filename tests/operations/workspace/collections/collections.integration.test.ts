import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { on } from '#tests/dsl/api.ts';
import { loseReply } from '#tests/operations/fixtures/alerting.ts';
import {
  AD,
  type Board,
  type BoardsStack,
  collectionsOf,
  colleague,
  everyPage,
  treeEventsOf,
  openBoardsStack,
} from '#tests/operations/fixtures/boards.ts';

let stack: BoardsStack;
beforeAll(async () => {
  stack = await openBoardsStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

describe('listCollections 200', () => {
  test('lists collections most recently changed first over all pages; added and removed items are changes', async () => {
    const key = await stack.key();
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three']) ids.push((await stack.boards.created(key, { name })).id);
    expect(await stack.boards.names(key)).toEqual(['three', 'two', 'one']);
    await stack.boards.add(key, ids[0] ?? '', AD);
    expect(await stack.boards.names(key)).toEqual(['one', 'three', 'two']);
    await stack.boards.change(key, ids[1] ?? '', { description: 'of boots' });
    await stack.boards.remove(key, ids[0] ?? '', AD.item_type, AD.item_key);
    const paged = await everyPage<Board>(stack.app, key, collectionsOf(key), 1);
    expect(paged.map(({ name }) => name)).toEqual(['one', 'two', 'three']);
  });

  test('shows the newest hundred items and the number of all items', async () => {
    const key = await stack.key({ plan: 'business' });
    const { id } = await stack.boards.created(key, { name: 'full', first_item: AD });
    for (let digit = 0; digit < 105; digit += 1) {
      await stack.boards.add(key, id, { item_type: 'ad', item_key: `${10_000 + digit}` });
    }
    const [shown] = await stack.boards.list(key);
    expect(shown).toMatchObject({ item_count: 106 });
    expect(shown?.items).toHaveLength(100);
    expect(shown?.items[0]).toMatchObject({ item_key: '10104' });
    const { data } = await stack.boards.change(key, id, { name: 'fuller' });
    expect((await stack.boards.list(key))[0]).toEqual(data);
  });

  test('shows private collections to creator and editors, and their children to members who see them', async () => {
    const owner = await stack.key();
    const [editor, other] = [await colleague(stack, owner), await colleague(stack, owner, 'admin')];
    const secret = await stack.boards.created(owner, {
      name: 'secret',
      visibility: 'private',
      editors: [editor.memberId],
    });
    const inside = await stack.boards.created(editor, { name: 'inside', parent_id: secret.id });
    expect(inside.parent_id).toBe(secret.id);
    expect(await stack.boards.names(owner)).toEqual(['inside', 'secret']);
    expect(await stack.boards.names(editor)).toEqual(['inside', 'secret']);
    expect(await stack.boards.names(other)).toEqual([]);
    await stack.boards.change(owner, secret.id, { editors: [] });
    // The editor still sees the collection that they created, but no longer its private parent.
    expect(await stack.boards.list(editor)).toMatchObject([{ name: 'inside', parent_id: null }]);
    await stack.boards.change(owner, secret.id, { visibility: 'workspace' });
    expect(await stack.boards.names(other)).toEqual(['secret', 'inside']);
  });
});

describe('listCollections 400', () => {
  test('rejects a cursor of another workspace', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    for (const name of ['one', 'two']) await stack.boards.created(key, { name });
    const { meta } = await on(stack.app).get(`${collectionsOf(key)}?limit=1`, { key });
    const reply = await on(stack.app).get(`${collectionsOf(other)}?limit=1&cursor=${meta.cursor}`, {
      key: other,
    });
    expect(reply.status).toBe(400);
  });
});

describe('createCollection 201', () => {
  test('creates a collection in a folder with a first item, equal to the next list', async () => {
    const key = await stack.key();
    const folder = await stack.boards.created(key, { name: 'folder' });
    const board = await stack.boards.created(key, {
      name: 'board',
      description: 'two\nlines',
      parent_id: folder.id.toUpperCase(),
      first_item: AD,
    });
    expect(board).toMatchObject({
      parent_id: folder.id,
      visibility: 'workspace',
      created_by: key.memberId,
      editors: [],
      item_count: 1,
      items: [{ ...AD, created_by: key.memberId, created_at: board.created_at }],
    });
    expect(board.updated_at).toBe(board.created_at);
    expect(await stack.boards.list(key)).toEqual([board, folder]);
  });

  test('creates one collection for a request whose reply was lost, also when it was deleted meanwhile', async () => {
    const key = await stack.key();
    const headers = { 'idempotency-key': randomUUID() };
    const create = () => on(stack.app).post(collectionsOf(key), { key, headers, body: { name: 'board' } });
    const first = await create();
    await stack.boards.delete(key, (first.data as Board).id);
    await loseReply(stack, headers['idempotency-key']);
    expect(await create()).toMatchObject({ status: 201, data: first.data });
    expect(await stack.boards.list(key)).toEqual([]);
    expect(await treeEventsOf(stack, key)).toEqual(['CollectionCreated', 'CollectionDeleted']);
  });

  test('removes the creator from the editors', async () => {
    const key = await stack.key();
    const other = await colleague(stack, key);
    const editors = [key.memberId, other.memberId, other.memberId];
    expect((await stack.boards.created(key, { name: 'x', editors })).editors).toEqual([other.memberId]);
  });
});

describe('createCollection 400', () => {
  test.each([
    ['no name', {}, 'name'],
    ['a blank name', { name: '  ' }, 'name'],
    ['a name of two lines', { name: 'a\nb' }, 'name'],
    ['a name with half a character', { name: '\ud800' }, 'name'],
    ['a name too long', { name: 'x'.repeat(101) }, 'name'],
    ['a description too long', { name: 'x', description: 'x'.repeat(1_001) }, 'description'],
    ['a parent that is no uuid', { name: 'x', parent_id: 'top' }, 'parent_id'],
    ['another visibility', { name: 'x', visibility: 'public' }, 'visibility'],
    ['an editor nobody knows', { name: 'x', editors: ['mem_nobody'] }, 'editors.0'],
    [
      'an item of another type',
      { name: 'x', first_item: { item_type: 'video', item_key: '1' } },
      'first_item.item_type',
    ],
    [
      'a brand named by its slug',
      { name: 'x', first_item: { item_type: 'brand', item_key: 'a-com' } },
      'first_item.item_key',
    ],
  ])('rejects %s', async (_name, body, path) => {
    const key = await stack.key();
    const reply = await stack.boards.create(key, body);
    expect(reply.status).toBe(400);
    expect(reply.error.details).toMatchObject([{ path }]);
    expect(await treeEventsOf(stack, key)).toEqual([]);
  });
});

describe('createCollection 404', () => {
  test('rejects a parent folder that is unknown, of another workspace, or not visible to the caller', async () => {
    const [key, foreign] = await Promise.all([stack.key(), stack.key()]);
    const other = await colleague(stack, key, 'owner');
    const elsewhere = await stack.boards.created(foreign, { name: 'elsewhere' });
    const hidden = await stack.boards.created(key, { name: 'hidden', visibility: 'private' });
    for (const parent_id of [randomUUID(), elsewhere.id, hidden.id]) {
      expect((await stack.boards.create(other, { name: 'x', parent_id })).status).toBe(404);
    }
    expect(await treeEventsOf(stack, key)).toEqual(['CollectionCreated']);
  });
});

describe('createCollection 409', () => {
  test('rejects an idempotency key that was used with another body, and a ninth level', async () => {
    const key = await stack.key();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await on(stack.app).post(collectionsOf(key), { key, headers, body: { name: 'a' } });
    const again = await on(stack.app).post(collectionsOf(key), { key, headers, body: { name: 'a' } });
    expect(again.data).toEqual(first.data);
    const other = await on(stack.app).post(collectionsOf(key), { key, headers, body: { name: 'b' } });
    expect(other.status).toBe(409);
    let parent_id: string | null = null;
    for (let depth = 1; depth <= 8; depth += 1) {
      parent_id = (await stack.boards.created(key, { name: `level ${depth}`, parent_id })).id;
    }
    expect((await stack.boards.create(key, { name: 'level 9', parent_id })).error.type).toBe('conflict');
  });
});
