import { randomUUID } from 'node:crypto';
import { type WorkspaceEvent, workspaceStream } from '#contracts/events/workspace/workspace.ts';
import type { Role } from '#contracts/values/roles.ts';
import { addMember, eraseMember, workspace, type WorkspaceState } from '#domain/workspace/workspace.ts';
import type { ApiStack } from '../../operations/fixtures/stack.ts';

/** Runs an operator's command without waiting for read models. */
const run = (
  stack: ApiStack,
  workspaceId: string,
  decision: (state: WorkspaceState) => readonly WorkspaceEvent[],
) =>
  stack.workspaceCommands.execute({
    workspaceId,
    stream: workspaceStream(workspaceId),
    decider: workspace,
    decision,
    actor: { kind: 'service', id: 'tests' },
    requestId: randomUUID(),
    commandId: randomUUID(),
    mayRepeat: false,
    shownIn: [],
  });

/** Sets the role of a member, or erases the member for `null`. */
export const setRole = async (
  stack: ApiStack,
  workspace_id: string,
  member_id: string,
  role: Role | null,
): Promise<void> => {
  const at = new Date().toISOString();
  const decision = role
    ? addMember({ workspace_id, member_id, name: '', role, at })
    : eraseMember({ workspace_id, member_id, at });
  await run(stack, workspace_id, decision);
};

/** Adds a member and returns the id. */
export const addMemberNamed = async (stack: ApiStack, workspaceId: string, role: Role): Promise<string> => {
  const memberId = `mem_${randomUUID()}`;
  await setRole(stack, workspaceId, memberId, role);
  return memberId;
};
