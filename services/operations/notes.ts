import { z } from 'zod';
import { noteStream } from '#contracts/events/workspace/note.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import { DeleteNote, DeletedNote, NOTES_MAX, Note, WriteNote } from '#contracts/resources/workspace/note.ts';
import { requireCollection, seesCollection } from '#domain/workspace/collection/decider.ts';
import {
  deleteNote as decideToDelete,
  writeNote as decideToWrite,
  note as noteDecider,
  noteIdOf,
} from '#domain/workspace/note.ts';
import { ItemKey, SUBJECT_KEYS, SubjectTypeName } from '#contracts/values/items.ts';
import { countNotes, findNote, listNotes as readNotes } from '#projections/notes/read.ts';
import type { OperationDependencies } from './dependencies/dependencies.ts';
import { WORKSPACE_ID } from './endpoint/examples.ts';
import { pageQuery, workspaceParams } from './endpoint/parameters.ts';
import { removalEndpoint } from './endpoint/removal-endpoint.ts';
import { NOTE_ID, itemReference, note } from './items.ts';
import { readTree } from './collections.ts';
import { pageReply, writtenText } from './endpoint/reply.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { omitUndefined } from './endpoint/omit-undefined.ts';
import { workspaceRead, workspaceWrite } from './endpoint/kinds.ts';

const noteParams = z.strictObject({
  ...workspaceParams.shape,
  noteId: Uuid.toLowerCase().meta({ description: 'Id of a note.' }),
});

/** True for the caller's own note, or a note on an item that they can read. */
const isVisible = async (
  { eventStore, workspaceCommands }: Pick<OperationDependencies, 'eventStore' | 'workspaceCommands'>,
  workspaceId: string,
  noteId: string,
  memberId: string,
): Promise<boolean> => {
  const { state } = await eventStore.load(noteStream(workspaceId, noteId), noteDecider);
  if (!state) return false;
  if (state.created_by === memberId || state.subject.subject_type !== 'collection') return true;
  const { tree } = await readTree(workspaceCommands, workspaceId);
  return seesCollection(tree, state.subject.subject_key, memberId);
};

export const deleteNote = removalEndpoint({
  path: '/v1/workspaces/{ws}/notes/{noteId}',
  operationId: 'deleteNote',
  tag: 'Notes',
  scope: 'notes:write',
  summary: 'Delete a note',
  description:
    'Takes an empty object as body. `removed` is false when no such note existed. Members delete their own notes; admins and owners delete any note that they can read; otherwise 403.',
  params: noteParams,
  body: DeleteNote,
  paramsExample: { ws: WORKSPACE_ID, noteId: NOTE_ID },
  reply: { data: DeletedNote, example: { note_id: NOTE_ID, workspace_id: WORKSPACE_ID } },
  handler: async ({ params, caller, execute }, dependencies) => {
    const { ws: workspace_id, noteId: note_id } = params;
    const by = { member_id: caller.memberId, role: caller.role };
    const known = await isVisible(dependencies, workspace_id, note_id, by.member_id);
    const decide = decideToDelete({ workspace_id, note_id, by, at: dependencies.clock.now().toISOString() });
    const { events, position } = await execute({
      stream: noteStream(workspace_id, note_id),
      decider: noteDecider,
      decision: (state) => (known ? decide(state) : []),
      shownIn: ['notes'],
    });
    return { target: { note_id, workspace_id }, removed: events.length > 0, position };
  },
});

const NotesQuery = z
  .strictObject({
    ...pageQuery,
    subject_type: SubjectTypeName.optional().meta({ description: 'Notes on subjects of this type only.' }),
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
  ...workspaceRead,
  path: '/v1/workspaces/{ws}/notes',
  operationId: 'listNotes',
  tag: 'Notes',
  scope: 'notes:read',
  summary: 'List notes',
  description:
    'The notes of all members, most recently edited first. A note that is edited while pages are read moves to the first page. Notes on a collection are shown only to members who see the collection.',
  query: NotesQuery,
  reply: { status: 200, shape: 'paged', data: Note, example: [note] },
  reads: ['notes', 'collections'],
  handler: async ({ params, query, caller, page }, { db }) => {
    const { subject_type, subject_key: key } = query;
    const subject_key = subject_type && key && SUBJECT_KEYS[subject_type].parse(key);
    const filter = omitUndefined({ subject_type, subject_key });
    return pageReply(await readNotes(db, params.ws, caller.memberId, filter, page), null);
  },
});

export const writeNote = endpoint({
  ...workspaceWrite,
  path: '/v1/workspaces/{ws}/notes',
  operationId: 'writeNote',
  tag: 'Notes',
  scope: 'notes:write',
  summary: "Write the caller's note on a subject",
  description: `Creates or replaces the one note of the caller on a subject; a replaced note keeps its id. The same text again changes nothing. 404 for a collection that the caller does not see. The service need not know any other subject. 409 for a new note when the workspace has ${NOTES_MAX}.`,
  body: {
    schema: WriteNote,
    example: { subject_type: itemReference.item_type, subject_key: itemReference.item_key, body: note.body },
  },
  reply: { status: 201, shape: 'record', data: Note, example: note },
  reads: [],
  handler: async ({ params, body: { body, ...subject }, caller, execute }, dependencies) => {
    const workspace_id = params.ws;
    const by = caller.memberId;
    if (subject.subject_type === 'collection') {
      const { tree } = await readTree(dependencies.workspaceCommands, workspace_id);
      requireCollection(tree, subject.subject_key, by);
    }
    const id = noteIdOf(workspace_id, by, subject);
    const notes = await countNotes(dependencies.db, workspace_id);
    const at = dependencies.clock.now().toISOString();
    const { state, position, isShown } = await execute({
      stream: noteStream(workspace_id, id),
      decider: noteDecider,
      decision: decideToWrite({ workspace_id, subject, body, by, notes, at }),
      shownIn: ['notes'],
    });
    if (!state) throw new Error('written note has no state');
    const { created_by, created_at, updated_at } = state;
    const data = await writtenText(
      { isShown, log: dependencies.log },
      () => findNote(dependencies.db, workspace_id, id),
      () => JSON.stringify({ id, ...subject, body: state.body, created_by, created_at, updated_at }),
    );
    return { data, asOf: null, position };
  },
});
