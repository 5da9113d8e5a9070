import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { noteStream } from '#contracts/events/workspace/note.ts';
import { NOTES_MAX } from '#contracts/resources/workspace/note.ts';
import { on } from '#tests/dsl/api.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { boardsThrough, colleague, crowded, everyPage, notesOf } from '../fixtures/boards.ts';
import { type Key, openApiStack } from '../fixtures/stack.ts';

const stack = await disposeAfterAll(openApiStack());
const app = await stack.api();

type Note = { readonly id: string; readonly subject_key: string; readonly body: string };
const AD = { subject_type: 'ad', subject_key: '1203847561029384' } as const;
const OTHER_AD = { subject_type: 'ad', subject_key: '998877665544' } as const;
const BRAND = { subject_type: 'brand', subject_key: 'c1f2b6a0-52a7-5b7e-9c4b-1f0d5a7e3c11' } as const;

const write = (key: Key, subject: object, body: unknown) =>
  on(app).post(notesOf(key), { key, body: { ...subject, body } });
const remove = (key: Key, id: string, body: unknown = {}) =>
  on(app).delete(`${notesOf(key)}/${id}`, { key, body });
const idOf = async (key: Key, subject: object): Promise<string> =>
  ((await write(key, subject, 'Words.')).data as Note).id;

const eventsOf = async (key: Key, id: string): Promise<readonly string[]> => {
  const types: string[] = [];
  for await (const { type } of stack.eventStore.read(noteStream(key.workspaceId, id))) types.push(type);
  return types;
};

describe('listNotes 200', () => {
  test('lists the notes of all members, most recently edited first, filtered by subject type or subject', async () => {
    const key = await stack.key();
    const other = await colleague(stack, key, 'viewer');
    const ids = [await idOf(key, AD), await idOf(key, BRAND), await idOf(key, OTHER_AD)];
    await write(key, AD, 'Edited.');
    const read = async (filter: string) =>
      (await everyPage<Note>(app, other, `${notesOf(key)}${filter}`, 1)).map(({ id }) => id);
    expect(await read('')).toEqual([ids[0], ids[2], ids[1]]);
    expect(await read('?subject_type=ad')).toEqual([ids[0], ids[2]]);
    expect(await read(`?subject_type=brand&subject_key=${BRAND.subject_key.toUpperCase()}`)).toEqual([
      ids[1],
    ]);
    expect(await read('?subject_type=ad&subject_key=123456')).toEqual([]);
  });

  test('lists notes on a private collection for members who see it, and none on a deleted collection', async () => {
    const key = await stack.key();
    const other = await colleague(stack, key, 'owner');
    const hidden = { name: 'hidden', visibility: 'private' };
    const { id } = await boardsThrough(app).created(key, hidden);
    await idOf(key, { subject_type: 'collection', subject_key: id });
    expect(await everyPage(app, key, notesOf(key))).toHaveLength(1);
    expect(await everyPage(app, other, notesOf(key))).toEqual([]);
    await boardsThrough(app).delete(key, id);
    expect(await everyPage(app, key, notesOf(key))).toEqual([]);
  });
});

describe('listNotes 400', () => {
  test.each([
    ['a type there is not', '?subject_type=video', 'subject_type'],
    ['a subject without its type', '?subject_key=123456', 'subject_type'],
    ['a key of another form', '?subject_type=brand&subject_key=123456', 'subject_key'],
  ])('rejects %s', async (_name, query, path) => {
    const key = await stack.key();
    const reply = await on(app).get(`${notesOf(key)}${query}`, { key });
    expect(reply.status).toBe(400);
    expect(reply.error.details).toMatchObject([{ path }]);
  });
});

describe('writeNote 201', () => {
  test('creates a note, replaces its text under the same id, and appends nothing for equal text', async () => {
    const key = await stack.key();
    const first = await write(key, AD, 'First.\nOf two lines.');
    expect(first.data).toMatchObject({ ...AD, body: 'First.\nOf two lines.', created_by: key.memberId });
    const { id, created_at } = first.data as { id: string; created_at: string };
    const second = await write(key, AD, 'Second.');
    expect(second.data).toMatchObject({ id, body: 'Second.', created_at });
    expect((await write(key, AD, 'Second.')).data).toEqual(second.data);
    expect(await everyPage(app, key, notesOf(key))).toEqual([second.data]);
    expect(await eventsOf(key, id)).toEqual(['NoteWritten', 'NoteReplaced']);
  });

  test('stores one note per member', async () => {
    const key = await stack.key();
    const other = await colleague(stack, key);
    expect(await idOf(key, AD)).not.toBe(await idOf(other, AD));
    expect(await everyPage(app, key, notesOf(key))).toHaveLength(2);
  });

  test('accepts a note of the maximum length in characters of the maximum size', async () => {
    const key = await stack.key();
    const body = '漢'.repeat(10_000);
    expect((await write(key, AD, body)).data).toMatchObject({ body });
  });
});

describe('writeNote 400', () => {
  test.each([
    ['no words', { ...AD, body: '' }, 'body'],
    ['only space', { ...AD, body: ' \n ' }, 'body'],
    ['too many words', { ...AD, body: 'x'.repeat(10_001) }, 'body'],
    ['a NUL character', { ...AD, body: 'a\u0000b' }, 'body'],
    ['another type', { subject_type: 'video', subject_key: '12345', body: 'x' }, 'subject_type'],
    ['a key of another form', { subject_type: 'brand', subject_key: 'a-com', body: 'x' }, 'subject_key'],
  ])('rejects %s', async (_name, body, path) => {
    const key = await stack.key();
    const reply = await on(app).post(notesOf(key), { key, body });
    expect(reply.status).toBe(400);
    expect(reply.error.details).toMatchObject([{ path }]);
    expect(await everyPage(app, key, notesOf(key))).toEqual([]);
  });
});

describe('writeNote 404', () => {
  test('rejects another workspace, and a collection that the caller cannot see', async () => {
    const [key, foreign] = await Promise.all([stack.key(), stack.key()]);
    const other = await colleague(stack, key, 'owner');
    expect((await on(app).post(notesOf(foreign), { key, body: { ...AD, body: 'x' } })).status).toBe(404);
    const hidden = { name: 'hidden', visibility: 'private' };
    const { id } = await boardsThrough(app).created(key, hidden);
    for (const subject_key of [id, randomUUID()]) {
      expect((await write(other, { subject_type: 'collection', subject_key }, 'x')).status).toBe(404);
    }
  });
});

describe('writeNote 409', () => {
  test('rejects an idempotency key that was used with another body', async () => {
    const key = await stack.key();
    const headers = { 'idempotency-key': randomUUID() };
    const send = (body: string) => on(app).post(notesOf(key), { key, headers, body: { ...AD, body } });
    expect((await send('One.')).status).toBe(201);
    expect((await send('Two.')).status).toBe(409);
  });

  test('rejects a new note at the limit of the workspace, and replaces a note that exists', async () => {
    const key = await stack.key();
    await idOf(key, AD);
    await stack.pool.query(
      `insert into notes.note select $1, gen_random_uuid(), 'ad', place::text, '', '', '', '' from generate_series(2, $2) place`,
      [key.workspaceId, NOTES_MAX],
    );
    const refused = await write(key, OTHER_AD, 'One more.');
    expect([refused.status, refused.error.message]).toEqual([
      409,
      expect.stringContaining(String(NOTES_MAX)),
    ]);
    expect((await write(key, AD, 'Replaced.')).status).toBe(201);
  });
});

describe('deleteNote 200', () => {
  test('deletes a note once; a new note on the subject has the same id', async () => {
    const key = await stack.key({ role: 'editor' });
    const id = await idOf(key, AD);
    const removed = { note_id: id, workspace_id: key.workspaceId };
    expect((await remove(key, id)).data).toEqual({ ...removed, removed: true });
    expect(await everyPage(app, key, notesOf(key))).toEqual([]);
    expect((await remove(key, id)).data).toEqual({ ...removed, removed: false });
    expect(await idOf(key, AD)).toBe(id);
    expect((await remove(key, randomUUID())).data).toMatchObject({ removed: false });
  });

  test('lets admins and owners delete the note of another member, and removes nothing of another workspace', async () => {
    const [key, foreign] = await Promise.all([stack.key({ role: 'editor' }), stack.key()]);
    const admin = await colleague(stack, key, 'admin');
    const id = await idOf(key, AD);
    expect((await remove(foreign, id)).data).toMatchObject({ removed: false });
    expect((await remove(admin, id)).data).toMatchObject({ removed: true });
  });

  test('removes nothing for a note on a collection that the caller cannot see', async () => {
    const key = await stack.key();
    const other = await colleague(stack, key, 'owner');
    const hidden = { name: 'hidden', visibility: 'private' };
    const { id: subject_key } = await boardsThrough(app).created(key, hidden);
    const id = await idOf(key, { subject_type: 'collection', subject_key });
    expect((await remove(other, id)).data).toMatchObject({ removed: false });
    expect((await remove(key, id)).data).toMatchObject({ removed: true });
  });
});

describe('deleteNote 403', () => {
  test('rejects the note of another member', async () => {
    const key = await stack.key();
    const other = await colleague(stack, key);
    const id = await idOf(key, AD);
    expect((await remove(other, id)).error.type).toBe('forbidden');
    expect(await everyPage(app, key, notesOf(key))).toHaveLength(1);
  });
});

describe('deleteNote 409', () => {
  test('rejects the command when concurrent changes exhaust all retries', async () => {
    const key = await stack.key();
    const id = await idOf(key, AD);
    const reply = await on(await crowded(stack)).delete(`${notesOf(key)}/${id}`, { key, body: {} });
    expect(reply.error.type).toBe('conflict');
  });
});
