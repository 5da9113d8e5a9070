import { describe, expect, test } from 'vitest';
import type { ApiKeyEvent } from '#contracts/events/workspace/workspace.ts';
import { ACTIVE_KEYS_MAX } from '#contracts/resources/workspace/api-key.ts';
import type { Scope } from '#contracts/values/access.ts';
import {
  apiKeys,
  everyApiKey,
  issueApiKey,
  keyIdOf,
  revokeApiKey,
  REVOKED_KEYS_KEPT,
  revokeUnusedApiKeys,
  rotateApiKey,
} from '#domain/workspace/api-keys.ts';
import { given } from '#tests/dsl/deciders.ts';

const AT = '2026-11-20T09:00:00.000Z';
const keyData = (key_id: string) => ({
  workspace_id: 'ws_1',
  key_id,
  name: 'ci',
  sha256: 'ab'.repeat(32),
  last_four: 'wxyz',
  scopes: ['brands:read'] as readonly Scope[],
  member_id: 'mem_1',
});
const issued = (key_id: string): ApiKeyEvent => ({
  type: 'ApiKeyIssued',
  data: { ...keyData(key_id), issued_at: AT },
});
const revoked: ApiKeyEvent = {
  type: 'ApiKeyRevoked',
  data: { workspace_id: 'ws_1', key_id: 'key_1', reason: 'revoked', revoked_at: AT },
};
/** Key that was revoked before those whose ids the state holds. */
const revokedLongAgo: readonly ApiKeyEvent[] = [
  issued('key_1'),
  revoked,
  ...Array.from({ length: 2 * REVOKED_KEYS_KEPT }, (_, place) => `later_${place}`).flatMap((key_id) => [
    issued(key_id),
    { ...revoked, data: { ...revoked.data, key_id } },
  ]),
];
const known_keys = new Set(['key_1']);
const issue = (grantable: readonly Scope[]) => issueApiKey({ ...keyData('key_1'), grantable, at: AT });
const revoke = revokeApiKey({ workspace_id: 'ws_1', key_id: 'key_1', reason: 'revoked', at: AT });

describe('issueApiKey', () => {
  test('issues a key and stores only its hash', () =>
    given(apiKeys)
      .when(issue(['brands:read', 'ads:read']))
      .records(issued('key_1')));
  test('refuses scopes that cannot be granted', () =>
    given(apiKeys)
      .when(issue(['ads:read']))
      .refuses('scope_missing'));
  test('refuses a repeated command with another key text', () =>
    given(apiKeys, issued('key_1'))
      .when(issueApiKey({ ...keyData('key_1'), sha256: 'cd'.repeat(32), grantable: ['brands:read'], at: AT }))
      .refuses('already_exists'));
  test('refuses a repeated command after the key was revoked, with the same text too', () =>
    given(apiKeys, issued('key_1'), revoked)
      .when(issue(['brands:read']))
      .refuses('key_revoked'));
  test('refuses a repeated command for a key revoked long ago that the access tables know', () =>
    given(apiKeys, ...revokedLongAgo)
      .when(issueApiKey({ ...keyData('key_1'), grantable: ['brands:read'], known_keys, at: AT }))
      .refuses('key_revoked'));
  test('refuses a key above the maximum number of active keys', () => {
    const others = Array.from({ length: ACTIVE_KEYS_MAX }, (_, index) => issued(`key_of_${index}`));
    given(apiKeys, ...others)
      .when(issue(['brands:read']))
      .refuses('too_many_keys');
    given(apiKeys, ...others.slice(1), issued('key_0'), {
      ...revoked,
      data: { ...revoked.data, key_id: 'key_0' },
    })
      .when(issue(['brands:read']))
      .records(issued('key_1'));
  });
});

describe('revokeApiKey', () => {
  test('revokes the key', () => given(apiKeys, issued('key_1')).when(revoke).records(revoked));
  test('records nothing when the key is already revoked', () =>
    given(apiKeys, issued('key_1'), revoked).when(revoke).records());
  test('records nothing when the key does not exist', () => given(apiKeys).when(revoke).records());
});

describe('rotateApiKey', () => {
  const rotate = (grantable: readonly Scope[], known?: ReadonlySet<string>) =>
    rotateApiKey({
      workspace_id: 'ws_1',
      rotated_key_id: 'key_1',
      key_id: 'key_2',
      sha256: 'cd'.repeat(32),
      last_four: '4321',
      member_id: 'mem_2',
      grantable,
      ...(known && { known_keys: known }),
      at: AT,
    });
  test('revokes the key and issues one of the same name and scopes to the caller', () =>
    given(apiKeys, issued('key_1'))
      .when(rotate(['brands:read', 'ads:read']))
      .records(
        { ...revoked, data: { ...revoked.data, reason: 'rotated' } },
        {
          type: 'ApiKeyIssued',
          data: {
            ...keyData('key_2'),
            sha256: 'cd'.repeat(32),
            last_four: '4321',
            member_id: 'mem_2',
            issued_at: AT,
            replaces: 'key_1',
          },
        },
      ));
  test('refuses a key with scopes that the caller does not have', () =>
    given(apiKeys, issued('key_1'))
      .when(rotate(['ads:read']))
      .refuses('scope_missing'));
  test('refuses a key that is revoked or does not exist', () => {
    given(apiKeys, issued('key_1'), revoked)
      .when(rotate(['brands:read']))
      .refuses('key_revoked');
    given(apiKeys, ...revokedLongAgo)
      .when(rotate(['brands:read'], known_keys))
      .refuses('key_revoked');
    given(apiKeys)
      .when(rotate(['brands:read']))
      .refuses('not_found');
  });
});

describe('revokeUnusedApiKeys', () => {
  const unused = (lastUses: Record<string, string>, at = '2026-11-23T09:00:00.000Z') =>
    revokeUnusedApiKeys({
      workspace_id: 'ws_1',
      days: 3,
      lastUses: new Map(Object.entries(lastUses)),
      at,
    });
  const revokedThen: ApiKeyEvent = {
    ...revoked,
    data: { ...revoked.data, reason: 'unused', revoked_at: '2026-11-23T09:00:00.000Z' },
  };
  test('revokes a key that was never used, counted from its issue', () =>
    given(apiKeys, issued('key_1')).when(unused({})).records(revokedThen));
  test('keeps keys that are younger than the limit', () =>
    given(apiKeys, issued('key_1')).when(unused({}, '2026-11-23T08:59:59.999Z')).records());
  test('keeps keys in use and revokes the others', () =>
    given(apiKeys, issued('key_1'), issued('key_2'))
      .when(unused({ key_1: AT, key_2: '2026-11-21T00:00:00.000Z' }))
      .records(revokedThen));
  test('records nothing for revoked keys', () =>
    given(apiKeys, issued('key_1'), revoked).when(unused({})).records());
});

test('everyApiKey holds revoked keys too, and the state of decisions only their ids', () => {
  const events = [issued('key_1'), issued('key_2'), revoked];
  const keys = [...events.reduce(everyApiKey.evolve, everyApiKey.initial)].map(([, key]) => key);
  expect(keys.map(({ key_id, revoked_at }) => [key_id, revoked_at])).toEqual([
    ['key_1', AT],
    ['key_2', null],
  ]);
  const state = events.reduce(apiKeys.evolve, apiKeys.initial);
  expect([[...state.keys].map(([id]) => id), [...state.revoked]]).toEqual([['key_2'], [['key_1', 1]]]);
});

test('keyIdOf returns the same id for the same command', () => {
  expect(keyIdOf('one')).toBe(keyIdOf('one'));
  expect(keyIdOf('one')).not.toBe(keyIdOf('another'));
  expect(keyIdOf('one')).toMatch(/^key_[0-9a-z]{16}$/);
});
