import { Refusal } from '#contracts/errors.ts';
import type { NoteEvent } from '#contracts/events/workspace/note.ts';
import { NOTES_MAX } from '#contracts/resources/workspace/note.ts';
import type { Subject } from '#contracts/values/items.ts';
import type { Role } from '#contracts/values/access.ts';
import { type Decider, jsonSnapshot } from '../decider.ts';
import { derivedId } from '../ids.ts';

/** Aggregate note, stream `note-<workspaceId>+<noteId>`: the note of one member on one subject. */

/** `null` when it was never written or is deleted. */
export type Note = {
  readonly subject: Subject;
  readonly body: string;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
} | null;

const initial: Note = null;

const evolve = (state: Note, event: NoteEvent): Note => {
  switch (event.type) {
    case 'NoteWritten': {
      const { subject_type, subject_key, body, written_by, written_at } = event.data;
      const times = { created_at: written_at, updated_at: written_at };
      return { subject: { subject_type, subject_key }, body, created_by: written_by, ...times };
    }
    case 'NoteReplaced':
      return state && { ...state, body: event.data.body, updated_at: event.data.replaced_at };
    case 'NoteDeleted':
      return null;
  }
};

export const note: Decider<Note, NoteEvent> = { initial, evolve, snapshot: jsonSnapshot(1) };

/** One id per member and subject, also for a note that is replaced or written again. */
export const noteIdOf = (workspaceId: string, memberId: string, subject: Subject): string =>
  derivedId('note', `${workspaceId}|${memberId}|${subject.subject_type}|${subject.subject_key}`);

/** The same text records nothing and keeps `updated_at`. */
export const writeNote =
  (input: {
    readonly workspace_id: string;
    readonly subject: Subject;
    readonly body: string;
    readonly by: string;
    readonly at: string;
    readonly notes: number;
  }) =>
  (state: Note): readonly NoteEvent[] => {
    const { workspace_id, subject, body, by, at, notes } = input;
    const note_id = noteIdOf(workspace_id, by, subject);
    if (!state) {
      if (notes >= NOTES_MAX) {
        throw new Refusal('limit_reached', `A workspace can have at most ${NOTES_MAX} notes. Delete some.`);
      }
      const written = { workspace_id, note_id, ...subject, body, written_by: by, written_at: at };
      return [{ type: 'NoteWritten', data: written }];
    }
    if (state.body === body) return [];
    return [{ type: 'NoteReplaced', data: { workspace_id, note_id, body, replaced_at: at } }];
  };

/** Admins and owners may delete any note. */
export const deleteNote =
  (input: {
    readonly workspace_id: string;
    readonly note_id: string;
    readonly by: { readonly member_id: string; readonly role: Role };
    readonly at: string;
  }) =>
  (state: Note): readonly NoteEvent[] => {
    const { workspace_id, note_id, by, at } = input;
    if (!state) return [];
    if (state.created_by !== by.member_id && by.role !== 'admin' && by.role !== 'owner') {
      throw new Refusal('not_yours', 'Only the author of a note, an admin or an owner can delete it.');
    }
    return [
      { type: 'NoteDeleted', data: { workspace_id, note_id, deleted_by: by.member_id, deleted_at: at } },
    ];
  };
