import { NOTE, type NoteFact } from '#contracts/events/workspace/note.ts';
import { projection } from '../define-projection.ts';

/** Members' notes, for the notes reads. */
export const notes = projection<NoteFact>({
  name: 'notes',
  version: 1,
  prefixes: [`${NOTE}-`],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {},
  project: (fact) => {
    const key = { workspace_id: fact.data.workspace_id, note_id: fact.data.note_id };
    switch (fact.type) {
      case 'NoteWritten': {
        const { subject_type, subject_key, body, written_by, written_at } = fact.data;
        const times = { created_at: written_at, updated_at: written_at };
        const row = { ...key, subject_type, subject_key, body, created_by: written_by, ...times };
        return [{ kind: 'insert', table: 'note', row }];
      }
      case 'NoteReplaced': {
        const { body, replaced_at } = fact.data;
        return [{ kind: 'update', table: 'note', key, set: { body, updated_at: replaced_at } }];
      }
      case 'NoteDeleted':
        return [{ kind: 'delete', table: 'note', key }];
    }
  },
});
