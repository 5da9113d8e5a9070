import { describe, expect, test } from 'vitest';
import type { ApiKeyEvent } from '#contracts/events/workspace/workspace.ts';
import { ACTIVE_KEYS_MAX } from '#contracts/resources/workspace/api-key.ts';
import type { Scope } from '#contracts/values/scopes.ts';
import {
  apiKeys,
  issueApiKey,
  keyIdOf,
  revokeApiKey,
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
const issue = (grantable: readonly Scope[]) => issueApiKey({ ...keyData('key_1'), grantable, at: AT });
const revoke = revokeApiKey({ workspace_id: 'ws_1', key_id: 'key_1', reason: 'revoked', at: AT });

describe('issueApiKey', () => {
  test('makes it known by its hash', () =>
    given(apiKeys)
      .when(issue(['brands:read', 'ads:read']))
      .records(issued('key_1')));
  test('refuses scopes beyond what may be granted', () =>
    given(apiKeys)
      .when(issue(['ads:read']))
      .refuses('scope_missing'));
  test('refuses a repetition that lost the text of the key', () =>
    given(apiKeys, issued('key_1'))
      .when(issueApiKey({ ...keyData('key_1'), sha256: 'cd'.repeat(32), grantable: ['brands:read'], at: AT }))
      .refuses('already_exists'));
  test('refuses beyond the limit, which revoked keys do not count against', () => {
    const others = Array.from({ length: ACTIVE_KEYS_MAX }, (_, place) => issued(`key_of_${place}`));
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
  test('revokes it', () => given(apiKeys, issued('key_1')).when(revoke).records(revoked));
  test('of a revoked key is already so', () =>
    given(apiKeys, issued('key_1'), revoked).when(revoke).records());
  test('of a key that the workspace has not is already so', () => given(apiKeys).when(revoke).records());
});

describe('rotateApiKey', () => {
  const rotate = (grantable: readonly Scope[], key_id = 'key_2') =>
    rotateApiKey({
      workspace_id: 'ws_1',
      rotated_key_id: 'key_1',
      key_id,
      sha256: 'cd'.repeat(32),
      last_four: '4321',
      member_id: 'mem_2',
      grantable,
      at: AT,
    });
  test('revokes it and issues another of its name and scopes to the member who asks', () =>
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
  test('refuses a key whose scopes the caller has not', () =>
    given(apiKeys, issued('key_1'))
      .when(rotate(['ads:read']))
      .refuses('scope_missing'));
  test('refuses a key that is revoked, and one that the workspace has not', () => {
    given(apiKeys, issued('key_1'), revoked)
      .when(rotate(['brands:read']))
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
  test('counts keys that were never used from their creation', () =>
    given(apiKeys, issued('key_1')).when(unused({})).records(revokedThen));
  test('leaves keys that are younger than the days', () =>
    given(apiKeys, issued('key_1')).when(unused({}, '2026-11-23T08:59:59.999Z')).records());
  test('leaves keys in use and revokes the others', () =>
    given(apiKeys, issued('key_1'), issued('key_2'))
      .when(unused({ key_1: AT, key_2: '2026-11-21T00:00:00.000Z' }))
      .records(revokedThen));
  test('leaves revoked keys as they are', () =>
    given(apiKeys, issued('key_1'), revoked).when(unused({})).records());
});

test('the id of a key follows from its command', () => {
  expect(keyIdOf('one')).toBe(keyIdOf('one'));
  expect(keyIdOf('one')).not.toBe(keyIdOf('another'));
  expect(keyIdOf('one')).toMatch(/^key_[0-9a-z]{16}$/);
});
