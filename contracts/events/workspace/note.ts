import type { Subject } from '#contracts/values/items.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `note-<workspaceId>+<noteId>`: one member's note on one subject. */
export const NOTE = 'note';
export const noteStream = (workspaceId: string, noteId: string): string => `${NOTE}-${workspaceId}+${noteId}`;

type NoteKey = { readonly workspace_id: string; readonly note_id: string };

export type NoteWritten = Event<
  'NoteWritten',
  NoteKey & Subject & { readonly body: string; readonly written_by: string; readonly written_at: string }
>;
export type NoteReplaced = Event<
  'NoteReplaced',
  NoteKey & { readonly body: string; readonly replaced_at: string }
>;
export type NoteDeleted = Event<
  'NoteDeleted',
  NoteKey & { readonly deleted_by: string; readonly deleted_at: string }
>;
export type NoteEvent = NoteWritten | NoteReplaced | NoteDeleted;

export const noteVersions: EventVersions<NoteEvent> = { NoteWritten: [], NoteReplaced: [], NoteDeleted: [] };
