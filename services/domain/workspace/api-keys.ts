import { DAY_MS } from '#contracts/values/time.ts';
import { Refusal } from '#contracts/errors.ts';
import type { ApiKeyEvent, ApiKeyIssued, ApiKeyRevoked } from '#contracts/events/workspace/workspace.ts';
import { ACTIVE_KEYS_MAX } from '#contracts/resources/workspace/api-key.ts';
import type { Scope } from '#contracts/values/access.ts';
import type { Decider, SnapshotCodec } from '../decider.ts';
import { derivedId } from '../ids.ts';
import { PersistentMap, type PersistentMapJson, RecentMap, type RecentMapJson } from '../persistent-map.ts';

/** Aggregate API keys, stream `apiKeys-<workspaceId>`: the keys of one workspace; events hold only hashes. */

/** Bounds the state, so that a command does not cost more with each key. */
export const REVOKED_KEYS_KEPT = 500;

export type ActiveKey = ApiKeyIssued['data'];
export type ApiKeysState = {
  readonly keys: PersistentMap<ActiveKey>;
  /** Last revoked keys. Decisions about older ones use `known_keys`. */
  readonly revoked: RecentMap<1>;
};

const initial: ApiKeysState = { keys: PersistentMap.empty(), revoked: RecentMap.empty(REVOKED_KEYS_KEPT) };

const evolve = (state: ApiKeysState, event: ApiKeyEvent): ApiKeysState => {
  const { keys, revoked } = state;
  const { key_id } = event.data;
  switch (event.type) {
    case 'ApiKeyIssued':
      return { keys: keys.with(key_id, event.data), revoked: revoked.without(key_id) };
    case 'ApiKeyRevoked':
      return keys.has(key_id) ? { keys: keys.without(key_id), revoked: revoked.with(key_id, 1) } : state;
  }
};

type ApiKeysJson = { readonly keys: PersistentMapJson; readonly revoked: RecentMapJson };

const snapshot: SnapshotCodec<ApiKeysState> = {
  version: 3,
  encode: ({ keys, revoked }): ApiKeysJson => ({ keys: keys.toJson(), revoked: revoked.toJson() }),
  decode: (json) => {
    const { keys, revoked } = json as ApiKeysJson;
    return { keys: PersistentMap.fromJson(keys), revoked: RecentMap.fromJson(REVOKED_KEYS_KEPT, revoked) };
  },
};

export const apiKeys: Decider<ApiKeysState, ApiKeyEvent> = { initial, evolve, snapshot };

export type WorkspaceKey = ActiveKey & { readonly revoked_at: string | null };

/** Includes revoked keys, for lists of operators. */
export const everyApiKey: Decider<PersistentMap<WorkspaceKey>, ApiKeyEvent> = {
  initial: PersistentMap.empty(),
  evolve: (keys, { type, data }) => {
    if (type === 'ApiKeyIssued') return keys.with(data.key_id, { ...data, revoked_at: null });
    const key = keys.get(data.key_id);
    return key ? keys.with(data.key_id, { ...key, revoked_at: data.revoked_at }) : keys;
  },
};

/** Letters that look alike are omitted, as in ids of operators. */
const ID_LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';
const ID_LENGTH = 16;
const HEX_DIGITS_OF_ID = 20;

export const keyIdOf = (commandId: string): string => {
  const hex = derivedId('api key', commandId).replaceAll('-', '').slice(0, HEX_DIGITS_OF_ID);
  const digits = BigInt(`0x${hex}`).toString(32).padStart(ID_LENGTH, '0');
  return `key_${Array.from(digits, (digit) => ID_LETTERS[Number.parseInt(digit, 32)]).join('')}`;
};

type NewKey = {
  readonly key_id: string;
  readonly sha256: string;
  readonly last_four: string;
  readonly member_id: string;
  readonly grantable: readonly Scope[];
  /** Key ids of this command that the access tables hold. */
  readonly known_keys?: ReadonlySet<string>;
};

/** A known key that is not active was revoked before those in the state. */
const isRevoked = (state: ApiKeysState, keyId: string, known?: ReadonlySet<string>): boolean =>
  !state.keys.has(keyId) && (state.revoked.has(keyId) || known?.has(keyId) === true);

/**
 * Throws `already_exists` for a repetition with another hash, since the key text was in a lost reply; `key_revoked`
 * after a revocation.
 */
const isIssued = (state: ApiKeysState, { key_id, sha256, known_keys }: NewKey): boolean => {
  if (isRevoked(state, key_id, known_keys)) {
    throw new Refusal(
      'key_revoked',
      `An earlier attempt created the key ${key_id}, and it is revoked. Create another one.`,
    );
  }
  const existing = state.keys.get(key_id);
  if (existing && existing.sha256 !== sha256) {
    throw new Refusal(
      'already_exists',
      `An earlier attempt created the key ${key_id}, and its reply was lost. Rotate or revoke that key.`,
    );
  }
  return existing !== undefined;
};

/** Throws `scope_missing` (specification, part "Authentication", item 7). */
const requireGrantable = (scopes: readonly Scope[], grantable: readonly Scope[]): void => {
  const beyond = scopes.filter((scope) => !grantable.includes(scope));
  if (beyond.length > 0) {
    throw new Refusal(
      'scope_missing',
      `The member or the calling key lacks these scopes: ${beyond.join(', ')}. Leave them out.`,
    );
  }
};

export const issueApiKey =
  (
    input: NewKey & {
      readonly workspace_id: string;
      readonly name: string;
      readonly scopes: readonly Scope[];
      readonly at: string;
    },
  ) =>
  (state: ApiKeysState): readonly ApiKeyEvent[] => {
    const { grantable, known_keys: _, at, ...issued } = input;
    if (isIssued(state, input)) return [];
    requireGrantable(issued.scopes, grantable);
    if (state.keys.size >= ACTIVE_KEYS_MAX) {
      throw new Refusal(
        'too_many_keys',
        `A workspace can have at most ${ACTIVE_KEYS_MAX} active keys. Revoke an unused key.`,
      );
    }
    return [{ type: 'ApiKeyIssued', data: { ...issued, issued_at: at } }];
  };

/** Throws `not_found` when the workspace never had the key. */
export const requireApiKey = (state: ApiKeysState, keyId: string, known?: ReadonlySet<string>): void => {
  if (!state.keys.has(keyId) && !isRevoked(state, keyId, known))
    throw new Refusal('not_found', 'API key not found.');
};

/**
 * Revokes and issues in one append, so that exactly one is active. The new key belongs to the caller, with the caller's
 * scopes: rotating another member's key must not give access as that member.
 */
export const rotateApiKey =
  (input: NewKey & { readonly workspace_id: string; readonly rotated_key_id: string; readonly at: string }) =>
  (state: ApiKeysState): readonly ApiKeyEvent[] => {
    const { workspace_id, key_id, sha256, last_four, member_id, rotated_key_id, grantable, at } = input;
    if (isIssued(state, input)) return [];
    requireApiKey(state, rotated_key_id, input.known_keys);
    const rotated = state.keys.get(rotated_key_id);
    if (!rotated) throw new Refusal('key_revoked', 'This key is already revoked. Create a new one.');
    const { name, scopes } = rotated;
    requireGrantable(scopes, grantable);
    const issued = { workspace_id, key_id, name, sha256, last_four, scopes, member_id };
    return [
      {
        type: 'ApiKeyRevoked',
        data: { workspace_id, key_id: rotated_key_id, reason: 'rotated', revoked_at: at },
      },
      { type: 'ApiKeyIssued', data: { ...issued, issued_at: at, replaces: rotated_key_id } },
    ];
  };

export const revokeApiKey =
  (input: {
    readonly workspace_id: string;
    readonly key_id: string;
    readonly reason: ApiKeyRevoked['data']['reason'];
    readonly at: string;
  }) =>
  (state: ApiKeysState): readonly ApiKeyEvent[] => {
    const { workspace_id, key_id, reason, at } = input;
    if (!state.keys.has(key_id)) return [];
    return [{ type: 'ApiKeyRevoked', data: { workspace_id, key_id, reason, revoked_at: at } }];
  };

export const revokeUnusedApiKeys =
  (input: {
    readonly workspace_id: string;
    readonly days: number;
    /** Time of last use by key id; unused keys are absent. */
    readonly lastUses: ReadonlyMap<string, string>;
    readonly at: string;
  }) =>
  (state: ApiKeysState): readonly ApiKeyEvent[] => {
    const { workspace_id, days, lastUses, at } = input;
    const limitMs = Date.parse(at) - days * DAY_MS;
    return [...state.keys]
      .map(([, key]) => key)
      .filter(({ key_id, issued_at }) => Date.parse(lastUses.get(key_id) ?? issued_at) <= limitMs)
      .map(({ key_id }) => ({
        type: 'ApiKeyRevoked',
        data: { workspace_id, key_id, reason: 'unused', revoked_at: at },
      }));
  };
