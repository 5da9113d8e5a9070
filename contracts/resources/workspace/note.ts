import { z } from 'zod';
import { ItemKey, SUBJECT_KEYS, SubjectTypeName, type SubjectType } from '#contracts/values/items.ts';
import { described, Timestamp, Uuid, WorkspaceId } from '#contracts/values/primitives.ts';
import { proseText } from '#contracts/values/text.ts';

export const NOTE_BODY_MAX_LENGTH = 10_000;
export const NOTES_MAX = 10_000;

const BODY = { description: 'The note, as plain text.' };
const body = proseText(NOTE_BODY_MAX_LENGTH).meta(BODY);

const onSubject = <Type extends SubjectType>(type: Type) =>
  z.strictObject({
    subject_type: z.literal(type).meta(described(SubjectTypeName)),
    subject_key: SUBJECT_KEYS[type].meta(described(ItemKey)),
    body,
  });

export const WriteNote = z
  .discriminatedUnion('subject_type', [
    onSubject('ad'),
    onSubject('brand'),
    onSubject('creative'),
    onSubject('creative_record'),
    onSubject('page'),
    onSubject('collection'),
  ])
  .meta({ id: 'WriteNote', description: 'A note and its subject.' });

export const Note = z
  .strictObject({
    id: Uuid.meta({
      description: 'Stable id of the note, `{noteId}` in paths; unchanged when the note is replaced.',
    }),
    subject_type: SubjectTypeName,
    subject_key: ItemKey,
    body: z.string().meta(BODY),
    created_by: z.string().meta({ description: 'Id of the member who wrote the note.' }),
    created_at: Timestamp.meta({ description: 'When it was first written.' }),
    updated_at: Timestamp.meta({ description: 'When it was last replaced.' }),
  })
  .meta({
    id: 'Note',
    description: 'What a member writes on a subject; each member has at most one note on it.',
  });

export const DeleteNote = z.strictObject({}).meta({ id: 'DeleteNote', description: 'An empty object.' });

export const DeletedNote = z
  .strictObject({
    note_id: Uuid.meta({ description: 'Id of the note in the path.' }),
    workspace_id: WorkspaceId,
    removed: z.boolean().meta({ description: 'False when no such note existed.' }),
  })
  .meta({ id: 'DeletedNote', description: 'The result of deleting a note.' });
