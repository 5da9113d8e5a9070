import { z } from 'zod';
import { ItemKey, SUBJECT_KEYS, SubjectTypeName, type SubjectType } from '#contracts/values/items.ts';
import { Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { proseText } from '#contracts/values/text.ts';

export const NOTE_BODY_MAX_LENGTH = 10_000;
export const NOTES_MAX = 10_000;

const body = proseText(NOTE_BODY_MAX_LENGTH);

const onSubject = <Type extends SubjectType>(type: Type) =>
  z.strictObject({ subject_type: z.literal(type), subject_key: SUBJECT_KEYS[type], body });

/** The format of `subject_key` depends on `subject_type`. */
export const WriteNote = z
  .discriminatedUnion('subject_type', [
    onSubject('ad'),
    onSubject('brand'),
    onSubject('creative'),
    onSubject('creative_record'),
    onSubject('page'),
    onSubject('collection'),
  ])
  .meta({ id: 'WriteNote' });

export const Note = z
  .strictObject({
    id: Uuid.meta({ description: 'Unchanged when the note is replaced.' }),
    subject_type: SubjectTypeName,
    subject_key: ItemKey,
    body: z.string(),
    created_by: z.string().meta({ description: 'Id of the member who wrote the note.' }),
    created_at: Timestamp,
    updated_at: Timestamp.meta({ description: 'When it was last replaced.' }),
  })
  .meta({ id: 'Note' });

export const DeleteNote = z.strictObject({}).meta({ id: 'DeleteNote', description: 'An empty object.' });

export const DeletedNote = z
  .strictObject({
    note_id: Uuid,
    workspace_id: z.string(),
    removed: z.boolean().meta({ description: 'False when no such note existed.' }),
  })
  .meta({ id: 'DeletedNote' });
