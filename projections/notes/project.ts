import { NOTE, type NoteEvent } from '#contracts/events/workspace/note.ts';
import { projection } from '../define-projection.ts';

export const notes = projection<NoteEvent>({
  name: 'notes',
  version: 1,
  prefixes: [`${NOTE}-`],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {},
  project: (event) => {
    const key = { workspace_id: event.data.workspace_id, note_id: event.data.note_id };
    switch (event.type) {
      case 'NoteWritten': {
        const { subject_type, subject_key, body, written_by, written_at } = event.data;
        const times = { created_at: written_at, updated_at: written_at };
        const row = { ...key, subject_type, subject_key, body, created_by: written_by, ...times };
        return [{ kind: 'insert', table: 'note', row }];
      }
      case 'NoteReplaced': {
        const { body, replaced_at } = event.data;
        return [{ kind: 'update', table: 'note', key, set: { body, updated_at: replaced_at } }];
      }
      case 'NoteDeleted':
        return [{ kind: 'delete', table: 'note', key }];
    }
  },
});
