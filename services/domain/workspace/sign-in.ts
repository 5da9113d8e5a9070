import type { SignInEvent, SignInMethod } from '#contracts/events/workspace/sign-in.ts';
import { DAY_MS, utcDate, utcDateOfMs } from '#contracts/values/time.ts';
import type { Decider, SnapshotCodec } from '../decider.ts';
import { PersistentMap, type PersistentMapJson, RecentMap, type RecentMapJson } from '../persistent-map.ts';

/** Aggregate sign-in, stream `signIn-<workspaceId>`: invitations and browser sign-ins of a workspace's members. */

export const SIGN_IN_DAYS_MAX = 7;
export const BROWSERS_MAX = 100;

/** Bounds the state; the newest entries stay. */
const REMEMBERED_MIN = 500;

type OpenOfDay = { readonly day: string; readonly open: PersistentMap<string> };

export type SignInState = {
  readonly days: readonly OpenOfDay[];
  /** Recent entries, so that a repeated command records nothing. */
  readonly recent: RecentMap<1>;
};

const initial: SignInState = { days: [], recent: RecentMap.empty(REMEMBERED_MIN) };

const invitationKey = (id: string): string => `invitation ${id}`;
const signInKey = (id: string, memberId: string): string => `in ${id} ${memberId}`;
const blockKey = (id: string, memberId: string): string => `block ${id} ${memberId}`;

/** Adds a sign-in, and drops days whose sign-ins have all expired. */
const withOpen = ({ days, recent }: SignInState, key: string, at: string): SignInState => {
  const [day, oldest] = [utcDate(at), utcDateOfMs(Date.parse(at) - SIGN_IN_DAYS_MAX * DAY_MS)];
  const open = (days.find((one) => one.day === day)?.open ?? PersistentMap.empty<string>()).with(key, at);
  const others = days.filter((one) => one.day !== day && one.day >= oldest);
  return { days: [...others, { day, open }], recent };
};

const withoutOpen = (days: readonly OpenOfDay[], key: string): readonly OpenOfDay[] =>
  days.map((one) => (one.open.has(key) ? { ...one, open: one.open.without(key) } : one));

const remember = (state: SignInState, key: string): SignInState => ({
  ...state,
  recent: state.recent.with(key, 1),
});

const evolve = (state: SignInState, event: SignInEvent): SignInState => {
  switch (event.type) {
    case 'MemberInvited':
      return remember(state, invitationKey(event.data.invitation_id));
    case 'MemberSignedIn': {
      const { sign_in_id, member_id, signed_in_at } = event.data;
      return withOpen(state, signInKey(sign_in_id, member_id), signed_in_at);
    }
    case 'MemberSignedOut': {
      const key = signInKey(event.data.sign_in_id, event.data.member_id);
      return remember({ ...state, days: withoutOpen(state.days, key) }, key);
    }
    case 'SignInBlocked':
      return remember(state, blockKey(event.data.attempt_id, event.data.member_id));
  }
};

/** False after the end or the expiry. */
const isOpen = ({ days }: SignInState, key: string, at: string): boolean => {
  const since = days.find(({ open }) => open.has(key))?.open.get(key);
  return since !== undefined && Date.parse(since) >= Date.parse(at) - SIGN_IN_DAYS_MAX * DAY_MS;
};

type SignInJson = {
  readonly days: readonly { readonly day: string; readonly open: PersistentMapJson }[];
  readonly recent: RecentMapJson;
};

const snapshot: SnapshotCodec<SignInState> = {
  version: 2,
  encode: ({ days, recent }): SignInJson => ({
    days: days.map(({ day, open }) => ({ day, open: open.toJson() })),
    recent: recent.toJson(),
  }),
  decode: (json) => {
    const { days, recent } = json as SignInJson;
    return {
      days: days.map(({ day, open }) => ({ day, open: PersistentMap.fromJson<string>(open) })),
      recent: RecentMap.fromJson(REMEMBERED_MIN, recent),
    };
  },
};

export const signInDecider: Decider<SignInState, SignInEvent> = { initial, evolve, snapshot };

type OfMember = { readonly workspace_id: string; readonly member_id: string; readonly at: string };

export const inviteMember =
  ({ at, ...invited }: OfMember & { readonly invitation_id: string; readonly expires_at: string }) =>
  ({ recent }: SignInState): readonly SignInEvent[] =>
    recent.has(invitationKey(invited.invitation_id))
      ? []
      : [{ type: 'MemberInvited', data: { ...invited, invited_at: at } }];

/** Records nothing for a repetition. */
export const signIn =
  ({ at, ...opened }: OfMember & { readonly sign_in_id: string; readonly method: SignInMethod }) =>
  (state: SignInState): readonly SignInEvent[] => {
    const key = signInKey(opened.sign_in_id, opened.member_id);
    if (isOpen(state, key, at) || state.recent.has(key)) return [];
    return [{ type: 'MemberSignedIn', data: { ...opened, signed_in_at: at } }];
  };

/** Records nothing when it never opened the workspace, or has ended. */
export const signOut =
  ({ at, ...ended }: OfMember & { readonly sign_in_id: string }) =>
  (state: SignInState): readonly SignInEvent[] =>
    isOpen(state, signInKey(ended.sign_in_id, ended.member_id), at)
      ? [{ type: 'MemberSignedOut', data: { ...ended, signed_out_at: at } }]
      : [];

export const blockSignIn =
  ({ at, ...blocked }: OfMember & { readonly attempt_id: string }) =>
  ({ recent }: SignInState): readonly SignInEvent[] =>
    recent.has(blockKey(blocked.attempt_id, blocked.member_id))
      ? []
      : [{ type: 'SignInBlocked', data: { ...blocked, reason: 'too_many_tries', blocked_at: at } }];
