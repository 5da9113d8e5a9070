import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `signIn-<workspaceId>`: invitations to a workspace, and the browser sign-ins that opened it. */
export const SIGN_IN = 'signIn';
export const signInStream = (workspaceId: string): string => `${SIGN_IN}-${workspaceId}`;

export const SIGN_IN_METHODS = ['code', 'invitation', 'upstream'] as const;
export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

type OfMember = { readonly workspace_id: string; readonly member_id: string };

/** The link itself is in no event. */
export type MemberInvited = Event<
  'MemberInvited',
  OfMember & { readonly invitation_id: string; readonly invited_at: string; readonly expires_at: string }
>;
/** Recorded once per sign-in and workspace; one sign-in may open several. */
export type MemberSignedIn = Event<
  'MemberSignedIn',
  OfMember & { readonly sign_in_id: string; readonly method: SignInMethod; readonly signed_in_at: string }
>;
export type MemberSignedOut = Event<
  'MemberSignedOut',
  OfMember & { readonly sign_in_id: string; readonly signed_out_at: string }
>;
/** Wrong codes were entered for the member's address until the code was withdrawn. */
export type SignInBlocked = Event<
  'SignInBlocked',
  OfMember & { readonly attempt_id: string; readonly reason: 'too_many_tries'; readonly blocked_at: string }
>;
export type SignInEvent = MemberInvited | MemberSignedIn | MemberSignedOut | SignInBlocked;

export const signInVersions: EventVersions<SignInEvent> = {
  MemberInvited: [],
  MemberSignedIn: [],
  MemberSignedOut: [],
  SignInBlocked: [],
};
