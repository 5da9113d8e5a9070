import type { FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { on } from '#tests/dsl/api.ts';
import {
  AD,
  type Board,
  boardsThrough,
  collectionsOf,
  colleague,
  crowded,
  treeEventsOf,
} from '#tests/operations/fixtures/boards.ts';
import { type ApiStack, type Key, openApiStack } from '#tests/operations/fixtures/stack.ts';

let stack: ApiStack;
let app: FastifyInstance;
let boards: ReturnType<typeof boardsThrough>;

beforeAll(async () => {
  stack = await openApiStack();
  app = await stack.api();
  boards = boardsThrough(app);
});
afterAll(() => stack[Symbol.asyncDispose]());

const eventsOf = (key: Key) => treeEventsOf(stack, key);

const namesOf = async (key: Key): Promise<readonly string[]> =>
  (await boards.list(key)).map(({ name }) => name);

describe('changeCollection 200', () => {
  test('changes the named properties and nothing else, and appends nothing for equal values', async () => {
    const key = await stack.key();
    const folder = await boards.created(key, { name: 'folder' });
    const board = await boards.created(key, { name: 'board', description: 'old', first_item: AD });
    const reply = await boards.change(key, board.id, { name: 'renamed', parent_id: folder.id });
    const { updated_at } = reply.data as Board;
    expect(reply.data).toEqual({ ...board, name: 'renamed', parent_id: folder.id, updated_at });
    const again = await boards.change(key, board.id, { name: 'renamed', parent_id: folder.id });
    expect(again.data).toEqual(reply.data);
    const cleared = await boards.change(key, board.id, { description: null, parent_id: null });
    expect(cleared.data).toMatchObject({ name: 'renamed', description: null, parent_id: null });
    expect((await boards.list(key))[0]).toEqual(cleared.data);
    expect(await eventsOf(key)).toEqual([
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
    const { id } = await boards.created(key, {
      name: 'x',
      visibility: 'private',
      editors: [editor.memberId],
    });
    expect((await boards.change(editor, id, { name: 'y' })).status).toBe(200);
  });
});

describe('changeCollection 400', () => {
  test.each([
    ['nothing to change', {}, ''],
    ['no name', { name: null }, 'name'],
    ['a property too many', { name: 'x', items: [] }, 'items'],
    ['an editor nobody knows', { editors: ['mem_nobody'] }, 'editors.0'],
  ])('rejects %s', async (_name, body, path) => {
    const key = await stack.key();
    const { id } = await boards.created(key, { name: 'x' });
    const reply = await boards.change(key, id, body);
    expect(reply.status).toBe(400);
    expect(reply.error.details).toMatchObject([{ path }]);
    expect(await eventsOf(key)).toEqual(['CollectionCreated']);
  });
});

describe('changeCollection 403', () => {
  test('rejects a change of visibility and editors by other members, except admins', async () => {
    const key = await stack.key({ role: 'editor' });
    const [editor, admin] = [await colleague(stack, key), await colleague(stack, key, 'admin')];
    const { id } = await boards.created(key, { name: 'x' });
    const reply = await boards.change(editor, id, { visibility: 'private' });
    expect(reply.status).toBe(403);
    expect(reply.error.type).toBe('forbidden');
    expect((await boards.change(editor, id, { editors: [editor.memberId] })).status).toBe(403);
    expect((await boards.change(admin, id, { editors: [editor.memberId] })).status).toBe(200);
    expect((await boards.change(editor, id, { visibility: 'workspace', name: 'y' })).status).toBe(200);
  });
});

describe('changeCollection 404', () => {
  test('rejects an unknown, foreign or private collection, and such a parent folder', async () => {
    const [key, foreign] = await Promise.all([stack.key(), stack.key()]);
    const other = await colleague(stack, key, 'owner');
    const hidden = await boards.created(key, { name: 'hidden', visibility: 'private' });
    const elsewhere = await boards.created(foreign, { name: 'elsewhere' });
    const own = await boards.created(other, { name: 'own' });
    for (const id of [randomUUID(), hidden.id, elsewhere.id]) {
      expect((await boards.change(other, id, { name: 'y' })).status).toBe(404);
      expect((await boards.change(other, own.id, { parent_id: id })).status).toBe(404);
    }
  });
});

describe('changeCollection 409', () => {
  test('rejects a cycle of folders, also when two concurrent changes would form it', async () => {
    const key = await stack.key();
    const [one, two] = [await boards.created(key, { name: '1' }), await boards.created(key, { name: '2' })];
    expect((await boards.change(key, one.id, { parent_id: one.id })).status).toBe(409);
    const replies = await Promise.all([
      boards.change(key, one.id, { parent_id: two.id }),
      boards.change(key, two.id, { parent_id: one.id }),
    ]);
    expect(replies.map(({ status }) => String(status)).toSorted()).toEqual(['200', '409']);
  });
});

describe('changeCollection 409 when the caller would lose access', () => {
  test('appends nothing, and accepts the change when the caller is among the editors', async () => {
    const key = await stack.key();
    const admin = await colleague(stack, key, 'admin');
    const { id } = await boards.created(key, { name: 'x' });
    expect((await boards.change(admin, id, { name: 'y', visibility: 'private' })).status).toBe(409);
    expect(await eventsOf(key)).toEqual(['CollectionCreated']);
    const change = { visibility: 'private', editors: [admin.memberId] };
    expect((await boards.change(admin, id, change)).status).toBe(200);
  });
});

describe('deleteCollection 200', () => {
  test('deletes a collection with its content in one event, and only once', async () => {
    const key = await stack.key();
    const other = await colleague(stack, key);
    const folder = await boards.created(key, { name: 'folder' });
    const board = await boards.created(key, { name: 'board', parent_id: folder.id, first_item: AD });
    const hidden = { name: 'hidden', parent_id: board.id, visibility: 'private' };
    const { id: hiddenId } = await boards.created(other, hidden);
    await boards.created(key, { name: 'beside' });
    const removed = { collection_id: folder.id, workspace_id: key.workspaceId };
    expect((await boards.delete(key, folder.id)).data).toEqual({ ...removed, removed: true });
    expect(await namesOf(key)).toEqual(['beside']);
    expect(await namesOf(other)).toEqual(['beside']);
    expect((await boards.delete(key, folder.id)).data).toEqual({ ...removed, removed: false });
    expect((await boards.add(key, board.id, AD)).status).toBe(404);
    expect((await boards.delete(key, hiddenId)).status).toBe(404);
    expect((await eventsOf(key)).at(-1)).toBe('CollectionDeleted');
  });
});

describe('deleteCollection 400', () => {
  test('rejects a missing body, a body with properties, and an id that is not a uuid', async () => {
    const key = await stack.key();
    const { id } = await boards.created(key, { name: 'x' });
    expect((await on(app).delete(`${collectionsOf(key)}/${id}`, { key })).status).toBe(400);
    expect((await boards.delete(key, id, { force: true })).error.details).toMatchObject([{ path: 'force' }]);
    expect((await boards.delete(key, 'x')).error.details).toMatchObject([{ path: 'collectionId' }]);
    expect(await eventsOf(key)).toEqual(['CollectionCreated']);
  });
});

describe('deleteCollection 404', () => {
  test('rejects an unknown collection, one of another workspace, and one that the caller cannot see', async () => {
    const [key, foreign] = await Promise.all([stack.key(), stack.key()]);
    const other = await colleague(stack, key, 'owner');
    const hidden = await boards.created(key, { name: 'hidden', visibility: 'private' });
    const elsewhere = await boards.created(foreign, { name: 'elsewhere' });
    for (const id of [randomUUID(), hidden.id, elsewhere.id]) {
      expect((await boards.delete(other, id)).status).toBe(404);
    }
    await boards.delete(key, hidden.id);
    expect((await boards.delete(other, hidden.id)).status).toBe(404);
  });
});

describe('deleteCollection 409', () => {
  test('rejects the command when concurrent changes exhaust all retries', async () => {
    const key = await stack.key();
    const { id } = await boards.created(key, { name: 'x' });
    expect((await boardsThrough(await crowded(stack)).delete(key, id)).error.type).toBe('conflict');
  });
});
