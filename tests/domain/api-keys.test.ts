import { describe, test } from 'vitest';
import type { ApiKeyFact } from '#contracts/events/workspace.ts';
import type { Scope } from '#contracts/scopes.ts';
import { ACTIVE_KEYS_MAX, apiKeys, issueApiKey, revokeApiKey } from '#domain/api-keys.ts';
import { given } from '#tests/dsl/decisions.ts';

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
const issued = (key_id: string): ApiKeyFact => ({
  type: 'ApiKeyIssued',
  data: { ...keyData(key_id), issued_at: AT },
});
const revoked: ApiKeyFact = {
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
  test('refuses beyond the limit, which revoked keys do not count against', () => {
    const others = Array.from({ length: ACTIVE_KEYS_MAX }, (_, place) => issued(`key_of_${place}`));
    given(apiKeys, ...others)
      .when(issue(['brands:read']))
      .refuses('quota_used_up');
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
  test('refuses a key that the workspace has not', () => given(apiKeys).when(revoke).refuses('not_found'));
});
