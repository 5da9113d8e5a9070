import type { SignInEvent, SignInMethod } from '#contracts/events/workspace/sign-in.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import type { Decider, SnapshotCodec } from '../decider.ts';

/**
 * Aggregate sign-in, stream `signIn-<workspaceId>`: invitations and browser sign-ins of a workspace's members.
 * Parts, in order: state, evolve, decisions (`inviteMember`, `signIn`, `signOut`, `blockSignIn`).
 */

/** Days after which a browser sign-in ends, however much it is used. */
export const SIGN_IN_DAYS_MAX = 7;
/** Maximum browsers in which a member is signed in at once. */
export const BROWSERS_MAX = 100;

/** The ids of invitations, sign-ins, endings and blocks of the last days, with their time. */
export type SignInState = { readonly recorded: ReadonlyMap<string, string> };

const initial: SignInState = { recorded: new Map() };

/** Forgets what is older than any sign-in that can still be open, so that the state stays small. */
const record = ({ recorded }: SignInState, key: string, at: string): SignInState => {
  const oldestMs = Date.parse(at) - SIGN_IN_DAYS_MAX * DAY_MS;
  const recent = [...recorded].filter(([, time]) => Date.parse(time) >= oldestMs);
  return { recorded: new Map(recent).set(key, at) };
};

const invitationKey = (id: string): string => `invitation ${id}`;
const signInKey = (id: string, memberId: string): string => `in ${id} ${memberId}`;
const signOutKey = (id: string, memberId: string): string => `out ${id} ${memberId}`;
const blockKey = (id: string, memberId: string): string => `block ${id} ${memberId}`;

const evolve = (state: SignInState, event: SignInEvent): SignInState => {
  switch (event.type) {
    case 'MemberInvited':
      return record(state, invitationKey(event.data.invitation_id), event.data.invited_at);
    case 'MemberSignedIn':
      return record(state, signInKey(event.data.sign_in_id, event.data.member_id), event.data.signed_in_at);
    case 'MemberSignedOut':
      return record(state, signOutKey(event.data.sign_in_id, event.data.member_id), event.data.signed_out_at);
    case 'SignInBlocked':
      return record(state, blockKey(event.data.attempt_id, event.data.member_id), event.data.blocked_at);
  }
};

const snapshot: SnapshotCodec<SignInState> = {
  version: 1,
  encode: ({ recorded }) => [...recorded],
  decode: (json) => ({ recorded: new Map(json as readonly (readonly [string, string])[]) }),
};

export const signInDecider: Decider<SignInState, SignInEvent> = { initial, evolve, snapshot };

type OfMember = { readonly workspace_id: string; readonly member_id: string; readonly at: string };

/** Records an invitation link. */
export const inviteMember =
  ({ at, ...invited }: OfMember & { readonly invitation_id: string; readonly expires_at: string }) =>
  ({ recorded }: SignInState): readonly SignInEvent[] =>
    recorded.has(invitationKey(invited.invitation_id))
      ? []
      : [{ type: 'MemberInvited', data: { ...invited, invited_at: at } }];

/** Records that a browser sign-in opened the workspace. Records nothing when it did so before. */
export const signIn =
  ({ at, ...opened }: OfMember & { readonly sign_in_id: string; readonly method: SignInMethod }) =>
  ({ recorded }: SignInState): readonly SignInEvent[] =>
    recorded.has(signInKey(opened.sign_in_id, opened.member_id))
      ? []
      : [{ type: 'MemberSignedIn', data: { ...opened, signed_in_at: at } }];

/** Records the end of a browser sign-in. Records nothing when it never opened the workspace, or has ended. */
export const signOut =
  ({ at, ...ended }: OfMember & { readonly sign_in_id: string }) =>
  ({ recorded }: SignInState): readonly SignInEvent[] =>
    recorded.has(signInKey(ended.sign_in_id, ended.member_id)) &&
    !recorded.has(signOutKey(ended.sign_in_id, ended.member_id))
      ? [{ type: 'MemberSignedOut', data: { ...ended, signed_out_at: at } }]
      : [];

/** Records that too many wrong codes were entered for a member's address. */
export const blockSignIn =
  ({ at, ...blocked }: OfMember & { readonly attempt_id: string }) =>
  ({ recorded }: SignInState): readonly SignInEvent[] =>
    recorded.has(blockKey(blocked.attempt_id, blocked.member_id))
      ? []
      : [{ type: 'SignInBlocked', data: { ...blocked, reason: 'too_many_tries', blocked_at: at } }];
