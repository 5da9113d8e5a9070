import { NOTE, type NoteEvent } from '#contracts/events/workspace/note.ts';
import { projection } from '../define-projection.ts';

/** Number of notes per workspace. */
export const noteCounts = projection<NoteEvent>({
  name: 'note-counts',
  version: 1,
  prefixes: [`${NOTE}-`],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {},
  project: (event) => {
    const key = { workspace_id: event.data.workspace_id };
    switch (event.type) {
      case 'NoteWritten':
        return [{ kind: 'increment', table: 'note_count', key, by: { notes: 1 } }];
      case 'NoteDeleted':
        return [{ kind: 'increment', table: 'note_count', key, by: { notes: -1 } }];
      case 'NoteReplaced':
        return [];
      default:
        event satisfies never;
        return [];
    }
  },
});
