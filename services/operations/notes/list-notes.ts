import { z } from 'zod';
import { ItemKey, SUBJECT_KEYS, SubjectTypeName } from '#contracts/values/items.ts';
import { Note } from '#contracts/resources/workspace/note.ts';
import { listNotes as readNotes } from '#projections/notes/read.ts';
import { pageReply } from '../endpoint/reply.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import { pageQuery, workspaceParams } from '../endpoint/parameters.ts';
import { note } from '../items/examples.ts';

const NotesQuery = z
  .strictObject({
    ...pageQuery,
    subject_type: SubjectTypeName.optional().meta({ description: 'On subjects of this type only.' }),
    subject_key: ItemKey.optional().meta({
      description:
        'Notes on this subject only. Requires `subject_type`, which decides the format of the key.',
    }),
  })
  .superRefine(({ subject_type, subject_key }, faults) => {
    if (subject_key === undefined) return;
    if (subject_type === undefined) {
      faults.addIssue({
        code: 'custom',
        path: ['subject_type'],
        message: '`subject_key` requires `subject_type`.',
      });
    } else if (!SUBJECT_KEYS[subject_type].safeParse(subject_key).success) {
      faults.addIssue({
        code: 'custom',
        path: ['subject_key'],
        message: 'The key does not have the format of keys of this subject type.',
      });
    }
  });

export const listNotes = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/notes',
  operationId: 'listNotes',
  tag: 'Notes',
  scope: 'notes:read',
  summary: 'List notes',
  description:
    'The notes of all members, most recently edited first. A note that is edited while pages are read moves to the first page. Notes on a collection are shown only to members who see the collection.',
  params: workspaceParams,
  query: NotesQuery,
  body: null,
  paramsExample: { ws: WORKSPACE_ID },
  reply: { status: 200, shape: 'paged', data: Note, example: [note] },
  errors: ['not_found'],
  corpus: false,
  reads: ['notes', 'collections'],
  handler: async ({ params, query, caller, page }, { db }) => {
    const { subject_type, subject_key: key } = query;
    const subject_key = subject_type && key && SUBJECT_KEYS[subject_type].parse(key);
    const filter = omitUndefined({ subject_type, subject_key });
    return pageReply(await readNotes(db, params.ws, caller.memberId, filter, page), null);
  },
});
