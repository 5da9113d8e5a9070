import { noteStream } from '#contracts/events/workspace/note.ts';
import { Note, NOTES_MAX, WriteNote } from '#contracts/resources/workspace/note.ts';
import { requireCollection } from '#domain/workspace/collection/decider.ts';
import { note as noteDecider, noteIdOf, writeNote as decideToWrite } from '#domain/workspace/note.ts';
import { countNotes, findNote } from '#projections/notes/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { noQuery, workspaceParams } from '../endpoint/parameters.ts';
import { writtenText } from '../endpoint/written-text.ts';
import { itemReference, note } from '../items/examples.ts';
import { readTree } from '../collections/load-collection.ts';

export const writeNote = endpoint({
  method: 'POST',
  path: '/v1/workspaces/{ws}/notes',
  operationId: 'writeNote',
  tag: 'Notes',
  scope: 'notes:write',
  summary: "Write the caller's note on a subject",
  description: `Creates or replaces the one note of the caller on a subject; a replaced note keeps its id. The same text again changes nothing. 404 for a collection that the caller does not see. The service need not know any other subject. 409 for a new note when the workspace has ${NOTES_MAX}.`,
  params: workspaceParams,
  query: noQuery,
  body: {
    schema: WriteNote,
    example: { subject_type: itemReference.item_type, subject_key: itemReference.item_key, body: note.body },
  },
  paramsExample: { ws: WORKSPACE_ID },
  reply: { status: 201, shape: 'record', data: Note, example: note },
  errors: ['not_found', 'conflict'],
  corpus: false,
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
