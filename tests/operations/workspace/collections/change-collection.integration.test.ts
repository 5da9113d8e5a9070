import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  AD,
  type Board,
  type BoardsStack,
  boardsThrough,
  colleague,
  crowded,
  treeEventsOf,
  openBoardsStack,
} from '#tests/operations/fixtures/boards.ts';

let stack: BoardsStack;
beforeAll(async () => {
  stack = await openBoardsStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

describe('changeCollection 200', () => {
  test('changes the named properties and nothing else, and appends nothing for equal values', async () => {
    const key = await stack.key();
    const folder = await stack.boards.created(key, { name: 'folder' });
    const board = await stack.boards.created(key, { name: 'board', description: 'old', first_item: AD });
    const reply = await stack.boards.change(key, board.id, { name: 'renamed', parent_id: folder.id });
    const { updated_at } = reply.data as Board;
    expect(reply.data).toEqual({ ...board, name: 'renamed', parent_id: folder.id, updated_at });
    const again = await stack.boards.change(key, board.id, { name: 'renamed', parent_id: folder.id });
    expect(again.data).toEqual(reply.data);
    const cleared = await stack.boards.change(key, board.id, { description: null, parent_id: null });
    expect(cleared.data).toMatchObject({ name: 'renamed', description: null, parent_id: null });
    expect((await stack.boards.list(key))[0]).toEqual(cleared.data);
    expect(await treeEventsOf(stack, key)).toEqual([
      'CollectionCreated',
      'CollectionCreated',
      'CollectionRenamed',
      'CollectionMoved',
      'CollectionDescribed',
      'CollectionMoved',
    ]);
  });

  test('lets an editor change a private collection', async () => {
    const key = await stack.key();
    const editor = await colleague(stack, key);
    const { id } = await stack.boards.created(key, {
      name: 'x',
      visibility: 'private',
      editors: [editor.memberId],
    });
    expect((await stack.boards.change(editor, id, { name: 'y' })).status).toBe(200);
  });
});

describe('changeCollection 400', () => {
  test.each([
    ['nothing to change', {}, ''],
    ['no name', { name: null }, 'name'],
    ['an editor nobody knows', { editors: ['mem_nobody'] }, 'editors.0'],
  ])('rejects %s', async (_name, body, path) => {
    const key = await stack.key();
    const { id } = await stack.boards.created(key, { name: 'x' });
    const reply = await stack.boards.change(key, id, body);
    expect(reply.status).toBe(400);
    expect(reply.error.details).toMatchObject([{ path }]);
    expect(await treeEventsOf(stack, key)).toEqual(['CollectionCreated']);
  });
});

describe('changeCollection 403', () => {
  test('rejects a change of visibility and editors by other members, except admins', async () => {
    const key = await stack.key({ role: 'editor' });
    const [editor, admin] = [await colleague(stack, key), await colleague(stack, key, 'admin')];
    const { id } = await stack.boards.created(key, { name: 'x' });
    const reply = await stack.boards.change(editor, id, { visibility: 'private' });
    expect(reply.status).toBe(403);
    expect(reply.error.type).toBe('forbidden');
    expect((await stack.boards.change(editor, id, { editors: [editor.memberId] })).status).toBe(403);
    expect((await stack.boards.change(admin, id, { editors: [editor.memberId] })).status).toBe(200);
    expect((await stack.boards.change(editor, id, { visibility: 'workspace', name: 'y' })).status).toBe(200);
  });
});

describe('changeCollection 404', () => {
  test('rejects an unknown, foreign or private collection, and such a parent folder', async () => {
    const [key, foreign] = await Promise.all([stack.key(), stack.key()]);
    const other = await colleague(stack, key, 'owner');
    const hidden = await stack.boards.created(key, { name: 'hidden', visibility: 'private' });
    const elsewhere = await stack.boards.created(foreign, { name: 'elsewhere' });
    const own = await stack.boards.created(other, { name: 'own' });
    for (const id of [randomUUID(), hidden.id, elsewhere.id]) {
      expect((await stack.boards.change(other, id, { name: 'y' })).status).toBe(404);
      expect((await stack.boards.change(other, own.id, { parent_id: id })).status).toBe(404);
    }
  });
});

describe('changeCollection 409', () => {
  test('rejects a cycle of folders, also when two concurrent changes would form it', async () => {
    const key = await stack.key();
    const [one, two] = [
      await stack.boards.created(key, { name: '1' }),
      await stack.boards.created(key, { name: '2' }),
    ];
    expect((await stack.boards.change(key, one.id, { parent_id: one.id })).status).toBe(409);
    const replies = await Promise.all([
      stack.boards.change(key, one.id, { parent_id: two.id }),
      stack.boards.change(key, two.id, { parent_id: one.id }),
    ]);
    expect(replies.map(({ status }) => String(status)).toSorted()).toEqual(['200', '409']);
  });
});

describe('changeCollection 409 when the caller would lose access', () => {
  test('appends nothing, and accepts the change when the caller is among the editors', async () => {
    const key = await stack.key();
    const admin = await colleague(stack, key, 'admin');
    const { id } = await stack.boards.created(key, { name: 'x' });
    expect((await stack.boards.change(admin, id, { name: 'y', visibility: 'private' })).status).toBe(409);
    expect(await treeEventsOf(stack, key)).toEqual(['CollectionCreated']);
    const change = { visibility: 'private', editors: [admin.memberId] };
    expect((await stack.boards.change(admin, id, change)).status).toBe(200);
  });
});

describe('deleteCollection 200', () => {
  test('deletes a collection with its content in one event, and only once', async () => {
    const key = await stack.key();
    const other = await colleague(stack, key);
    const folder = await stack.boards.created(key, { name: 'folder' });
    const board = await stack.boards.created(key, { name: 'board', parent_id: folder.id, first_item: AD });
    const hidden = { name: 'hidden', parent_id: board.id, visibility: 'private' };
    const { id: hiddenId } = await stack.boards.created(other, hidden);
    await stack.boards.created(key, { name: 'beside' });
    const removed = { collection_id: folder.id, workspace_id: key.workspaceId };
    expect((await stack.boards.delete(key, folder.id)).data).toEqual({ ...removed, removed: true });
    expect(await stack.boards.names(key)).toEqual(['beside']);
    expect(await stack.boards.names(other)).toEqual(['beside']);
    expect((await stack.boards.delete(key, folder.id)).data).toEqual({ ...removed, removed: false });
    expect((await stack.boards.add(key, board.id, AD)).status).toBe(404);
    expect((await stack.boards.delete(key, hiddenId)).status).toBe(404);
    expect((await treeEventsOf(stack, key)).at(-1)).toBe('CollectionDeleted');
  });
});

describe('deleteCollection 404', () => {
  test('rejects an unknown collection, one of another workspace, and one that the caller cannot see', async () => {
    const [key, foreign] = await Promise.all([stack.key(), stack.key()]);
    const other = await colleague(stack, key, 'owner');
    const hidden = await stack.boards.created(key, { name: 'hidden', visibility: 'private' });
    const elsewhere = await stack.boards.created(foreign, { name: 'elsewhere' });
    for (const id of [randomUUID(), hidden.id, elsewhere.id]) {
      expect((await stack.boards.delete(other, id)).status).toBe(404);
    }
    await stack.boards.delete(key, hidden.id);
    expect((await stack.boards.delete(other, hidden.id)).status).toBe(404);
  });
});

describe('deleteCollection 409', () => {
  test('rejects the command when concurrent changes exhaust all retries', async () => {
    const key = await stack.key();
    const { id } = await stack.boards.created(key, { name: 'x' });
    expect((await boardsThrough(await crowded(stack)).delete(key, id)).error.type).toBe('conflict');
  });
});
