import { randomUUID } from 'node:crypto';
import type { Actor } from '#contracts/events/event.ts';
import { type SignInEvent, signInStream } from '#contracts/events/workspace/sign-in.ts';
import { blockSignIn, signIn, signInDecider, type SignInState, signOut } from '#domain/workspace/sign-in.ts';
import type { Clock } from '#platform/clock.ts';
import type { WorkspaceCommands } from '../commands/workspace-commands.ts';
import type { BrowserSignIn } from './browsers.ts';
import type { Membership } from './member-directory.ts';

type Member = Pick<Membership, 'workspaceId' | 'memberId'>;

/** Recorded sign-ins are not recorded again. */
export type SignInHistory = {
  opened(member: Member, browser: BrowserSignIn): Promise<void>;
  closed(members: readonly Member[], signInId: string): Promise<void>;
  blocked(members: readonly Member[], attemptId: string): Promise<void>;
};

const SERVICE: Actor = { kind: 'service', id: 'mcp' };

export const createSignInHistory = ({
  workspaceCommands,
  clock,
}: {
  readonly workspaceCommands: WorkspaceCommands;
  readonly clock: Clock;
}): SignInHistory => {
  const record = async (
    workspaceId: string,
    actor: Actor,
    decision: (state: SignInState) => readonly SignInEvent[],
  ): Promise<void> => {
    await workspaceCommands.execute({
      workspaceId,
      stream: signInStream(workspaceId),
      decider: signInDecider,
      decision,
      actor,
      requestId: randomUUID(),
      commandId: randomUUID(),
      mayRepeat: false,
      isShared: true,
      shownIn: [],
    });
  };
  const memberKey = ({ workspaceId, memberId }: Member) => ({
    workspace_id: workspaceId,
    member_id: memberId,
    at: clock.now().toISOString(),
  });
  return {
    opened: (member, { signInId, method }) => {
      const decision = signIn({ ...memberKey(member), sign_in_id: signInId, method });
      return record(member.workspaceId, { kind: 'member', id: member.memberId }, decision);
    },
    closed: async (members, signInId) => {
      for (const member of members) {
        const decision = signOut({ ...memberKey(member), sign_in_id: signInId });
        await record(member.workspaceId, { kind: 'member', id: member.memberId }, decision);
      }
    },
    blocked: async (members, attemptId) => {
      for (const member of members) {
        const decision = blockSignIn({ ...memberKey(member), attempt_id: attemptId });
        await record(member.workspaceId, SERVICE, decision);
      }
    },
  };
};
