import { Refusal } from '#contracts/errors.ts';
import { workspaceStream } from '#contracts/events/workspace/workspace.ts';
import { workspace } from '#domain/workspace/workspace.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';

export const requireMembers = async (
  eventStore: EventStore,
  workspaceId: string,
  editors: readonly string[],
): Promise<void> => {
  if (editors.length === 0) return;
  const { state } = await eventStore.load(workspaceStream(workspaceId), workspace);
  const message = 'The workspace has no such member.';
  const details = editors.flatMap((editor, index) =>
    state.members.has(editor) ? [] : [{ path: `editors.${index}`, message, code: 'unknown_member' }],
  );
  if (details.length > 0) throw new Refusal('invalid_input', 'The input was rejected; see details.', details);
};
