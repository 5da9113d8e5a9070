import { Refusal } from '#contracts/errors.ts';
import type { ApiKeyFact, ApiKeyRevoked } from '#contracts/events/workspace.ts';
import type { Scope } from '#contracts/scopes.ts';

/** Stream `apiKeys-<workspaceId>`: which keys a workspace has. A key is known by its hash only. */
export type ApiKeysState = { readonly keys: ReadonlyMap<string, { readonly revoked: boolean }> };

const initial: ApiKeysState = { keys: new Map() };

const evolve = (state: ApiKeysState, fact: ApiKeyFact): ApiKeysState => {
  switch (fact.type) {
    case 'ApiKeyIssued':
      return { keys: new Map(state.keys).set(fact.data.key_id, { revoked: false }) };
    case 'ApiKeyRevoked':
      return { keys: new Map(state.keys).set(fact.data.key_id, { revoked: true }) };
  }
};

export const apiKeys = { initial, evolve };

/** Active keys of one workspace. */
export const ACTIVE_KEYS_MAX = 1_000;

/**
 * Makes a key known. Its scopes never exceed `grantable`: those of the member's role and, where a key asks,
 * of that key (specification, part "Authentication", item 7).
 */
export const issueApiKey =
  (input: {
    readonly workspace_id: string;
    readonly key_id: string;
    readonly name: string;
    readonly sha256: string;
    readonly last_four: string;
    readonly scopes: readonly Scope[];
    readonly grantable: readonly Scope[];
    readonly member_id: string;
    readonly at: string;
  }) =>
  (state: ApiKeysState): readonly ApiKeyFact[] => {
    const { grantable, at, ...issued } = input;
    if (state.keys.has(issued.key_id)) return [];
    const beyond = issued.scopes.filter((scope) => !grantable.includes(scope));
    if (beyond.length > 0) {
      throw new Refusal('scope_missing', `These scopes cannot be granted here: ${beyond.join(', ')}.`);
    }
    if ([...state.keys.values()].filter((key) => !key.revoked).length >= ACTIVE_KEYS_MAX) {
      throw new Refusal('quota_used_up', `A workspace has at most ${ACTIVE_KEYS_MAX} active keys.`);
    }
    return [{ type: 'ApiKeyIssued', data: { ...issued, issued_at: at } }];
  };

/** Revoking a revoked key is already so. */
export const revokeApiKey =
  (input: {
    readonly workspace_id: string;
    readonly key_id: string;
    readonly reason: ApiKeyRevoked['data']['reason'];
    readonly at: string;
  }) =>
  (state: ApiKeysState): readonly ApiKeyFact[] => {
    const { workspace_id, key_id, reason, at } = input;
    const key = state.keys.get(key_id);
    if (!key) throw new Refusal('not_found', 'The workspace has no such key.');
    if (key.revoked) return [];
    return [{ type: 'ApiKeyRevoked', data: { workspace_id, key_id, reason, revoked_at: at } }];
  };
