import { expect, it } from 'vitest';
import { type NoteEvent, noteStream } from '#contracts/events/workspace/note.ts';
import { noteCounts } from '#projections/note-counts/project.ts';
import { countNotes } from '#projections/note-counts/read.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';

const workspace_id = 'ws_1';
const onNote = (note_id: string, ...events: readonly NoteEvent[]): GivenEvent[] =>
  events.map((event) => ({ stream: noteStream(workspace_id, note_id), event }));
const written = (note_id: string): NoteEvent => ({
  type: 'NoteWritten',
  data: {
    workspace_id,
    note_id,
    subject_type: 'brand',
    subject_key: 'b',
    body: 'text',
    written_by: 'mem_1',
    written_at: '2026-11-22T10:00:00.000Z',
  },
});
const deleted = (note_id: string): NoteEvent => ({
  type: 'NoteDeleted',
  data: { workspace_id, note_id, deleted_by: 'mem_1', deleted_at: '2026-11-22T11:00:00.000Z' },
});

it('counts written notes and leaves out deleted ones', async () => {
  expect.hasAssertions();
  await given([...onNote('a', written('a'), deleted('a')), ...onNote('b', written('b'))])
    .into(noteCounts)
    .shows((db) => countNotes(db, workspace_id), 1);
});
