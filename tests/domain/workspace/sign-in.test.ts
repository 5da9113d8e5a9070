import { describe, expect, test } from 'vitest';
import type { SignInEvent } from '#contracts/events/workspace/sign-in.ts';
import { blockSignIn, inviteMember, signIn, signInDecider, signOut } from '#domain/workspace/sign-in.ts';
import { given } from '#tests/dsl/deciders.ts';

const AT = '2026-11-20T09:00:00.000Z';
const ada = { workspace_id: 'ws_1', member_id: 'ada' };
const expires_at = '2026-11-21T09:00:00.000Z';
const signedIn = (sign_in_id: string, signed_in_at = AT): SignInEvent => ({
  type: 'MemberSignedIn',
  data: { ...ada, sign_in_id, method: 'code', signed_in_at },
});
const open = (sign_in_id: string) => signIn({ ...ada, sign_in_id, method: 'code', at: AT });
const close = (sign_in_id: string) => signOut({ ...ada, sign_in_id, at: AT });
const signedOut = (sign_in_id: string): SignInEvent => ({
  type: 'MemberSignedOut',
  data: { ...ada, sign_in_id, signed_out_at: AT },
});

test('inviteMember records the invitation once', () =>
  given(signInDecider)
    .when(inviteMember({ ...ada, invitation_id: 'one', at: AT, expires_at }))
    .records({
      type: 'MemberInvited',
      data: { ...ada, invitation_id: 'one', invited_at: AT, expires_at },
    }));

describe('signIn', () => {
  test('records a sign-in', () => given(signInDecider).when(open('a')).records(signedIn('a')));
  test('records a second browser', () =>
    given(signInDecider, signedIn('a')).when(open('b')).records(signedIn('b')));
});

describe('signOut', () => {
  test('records the end of an open sign-in', () =>
    given(signInDecider, signedIn('a')).when(close('a')).records(signedOut('a')));
  test('records nothing for a sign-in of another member', () =>
    given(signInDecider, signedIn('a'))
      .when(signOut({ ...ada, member_id: 'bea', sign_in_id: 'a', at: AT }))
      .records());
  test('records nothing twice', () =>
    given(signInDecider, signedIn('a'), signedOut('a')).when(close('a')).records());
});

test('blockSignIn records the block of an attempt once', () =>
  given(signInDecider)
    .when(blockSignIn({ ...ada, attempt_id: 'x', at: AT }))
    .records({
      type: 'SignInBlocked',
      data: { ...ada, attempt_id: 'x', reason: 'too_many_tries', blocked_at: AT },
    }));

test('the state forgets sign-ins that no browser can still have', () => {
  const old = signedIn('old', '2026-11-01T09:00:00.000Z');
  const state = [old, signedIn('new')].reduce(signInDecider.evolve, signInDecider.initial);
  expect(state.days.flatMap(({ open: ofDay }) => [...ofDay].map(([key]) => key))).toEqual(['in new ada']);
});

test('signOut records nothing for a sign-in that has expired', () =>
  given(signInDecider, signedIn('a', '2026-11-13T08:59:59.999Z')).when(close('a')).records());
test('signOut records the end of a sign-in on its last day', () =>
  given(signInDecider, signedIn('a', '2026-11-13T09:00:00.000Z')).when(close('a')).records(signedOut('a')));
test('signIn records nothing for a sign-in that has ended', () =>
  given(signInDecider, signedIn('a'), signedOut('a')).when(open('a')).records());
