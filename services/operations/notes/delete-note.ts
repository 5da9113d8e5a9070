import { z } from 'zod';
import { noteStream } from '#contracts/events/workspace/note.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import { DeletedNote, DeleteNote } from '#contracts/resources/workspace/note.ts';
import { seesCollection } from '#domain/workspace/collection/decider.ts';
import { deleteNote as decideToDelete, note } from '#domain/workspace/note.ts';
import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { workspaceParams } from '../endpoint/parameters.ts';
import { removalEndpoint } from '../endpoint/removal-endpoint.ts';
import { NOTE_ID } from '../items/examples.ts';
import { readTree } from '../collections/load-collection.ts';

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
  const { state } = await eventStore.load(noteStream(workspaceId, noteId), note);
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
  reply: {
    data: DeletedNote,
    example: { note_id: NOTE_ID, workspace_id: WORKSPACE_ID },
  },
  handler: async ({ params, caller, execute }, dependencies) => {
    const { ws: workspace_id, noteId: note_id } = params;
    const by = { member_id: caller.memberId, role: caller.role };
    const known = await isVisible(dependencies, workspace_id, note_id, by.member_id);
    const decide = decideToDelete({ workspace_id, note_id, by, at: dependencies.clock.now().toISOString() });
    const { events, position } = await execute({
      stream: noteStream(workspace_id, note_id),
      decider: note,
      decision: (state) => (known ? decide(state) : []),
      shownIn: ['notes'],
    });
    return { target: { note_id, workspace_id }, removed: events.length > 0, position };
  },
});
