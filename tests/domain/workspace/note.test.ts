import { describe, expect, test } from 'vitest';
import type { NoteEvent } from '#contracts/events/workspace/note.ts';
import { NOTES_MAX } from '#contracts/resources/workspace/note.ts';
import type { Role } from '#contracts/values/access.ts';
import { deleteNote, note, noteIdOf, writeNote } from '#domain/workspace/note.ts';
import { given } from '#tests/dsl/deciders.ts';

const AT = '2026-11-20T09:00:00.000Z';
const LATER = '2026-11-20T10:00:00.000Z';
const workspace_id = 'ws_1';
const subject = { subject_type: 'ad', subject_key: '12345' } as const;
const note_id = noteIdOf(workspace_id, 'ada', subject);
const written = (body: string, written_at = AT): NoteEvent => ({
  type: 'NoteWritten',
  data: { workspace_id, note_id, ...subject, body, written_by: 'ada', written_at },
});
const deleted = (deleted_by: string): NoteEvent => ({
  type: 'NoteDeleted',
  data: { workspace_id, note_id, deleted_by, deleted_at: LATER },
});
const write = (body: string, notes = 0) =>
  writeNote({ workspace_id, subject, body, by: 'ada', at: LATER, notes });
const remove = (member_id: string, role: Role) =>
  deleteNote({ workspace_id, note_id, by: { member_id, role }, at: LATER });

describe('writeNote', () => {
  test('writes the note', () => given(note).when(write('one')).records(written('one', LATER)));
  test('replaces the text of the note', () =>
    given(note, written('one'))
      .when(write('two'))
      .records({
        type: 'NoteReplaced',
        data: { workspace_id, note_id, body: 'two', replaced_at: LATER },
      }));
  test('records nothing for the same text', () => given(note, written('one')).when(write('one')).records());
  test('refuses a new note at the limit of the workspace, and replaces one', () => {
    given(note).when(write('one', NOTES_MAX)).refuses('limit_reached');
    given(note, written('one')).when(write('one', NOTES_MAX)).records();
  });
  test('writes the note again after it was deleted', () =>
    given(note, written('one'), deleted('ada')).when(write('one')).records(written('one', LATER)));
});

describe('deleteNote', () => {
  test('lets the author delete the note', () =>
    given(note, written('one')).when(remove('ada', 'editor')).records(deleted('ada')));
  test.each(['admin', 'owner'] as const)('lets an %s delete the note', (role) =>
    given(note, written('one')).when(remove('bea', role)).records(deleted('bea')),
  );
  test('refuses other members', () =>
    given(note, written('one')).when(remove('bea', 'editor')).refuses('not_yours'));
  test('records nothing when the note does not exist', () =>
    given(note).when(remove('bea', 'editor')).records());
});

test('noteIdOf returns one id for each member and subject', () => {
  const ids = [
    noteIdOf('ws_1', 'ada', subject),
    noteIdOf('ws_1', 'bea', subject),
    noteIdOf('ws_2', 'ada', subject),
    noteIdOf('ws_1', 'ada', { ...subject, subject_type: 'page' }),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  expect(noteIdOf('ws_1', 'ada', subject)).toBe(ids[0]);
});
