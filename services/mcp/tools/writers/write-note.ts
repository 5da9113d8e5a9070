import { z } from 'zod';
import { NOTE_BODY_MAX_LENGTH } from '#contracts/resources/workspace/note.ts';
import { ItemKey, SubjectTypeName } from '#contracts/values/items.ts';
import { writeNote as writeNoteEndpoint } from '#operations/notes.ts';
import { tool } from '../define-tool.ts';
import { written } from './written.ts';

export const writeNote = tool({
  name: 'write_note',
  title: 'Write a note',
  description: "Writes the member's note on a subject. It replaces their earlier note on the same subject.",
  input: z.strictObject({
    subject_type: SubjectTypeName,
    subject_key: ItemKey,
    text: z.string().min(1).max(NOTE_BODY_MAX_LENGTH),
  }),
  output: 'structured',
  kind: 'writer',
  scopes: () => ['notes:write'],
  cost: () => 1,
  run: ({ subject_type, subject_key, text }, context) =>
    written(writeNoteEndpoint, { body: { subject_type, subject_key, body: text } }, context),
});
