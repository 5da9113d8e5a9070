import { Refusal } from '#contracts/errors.ts';
import type { ApiKeyEvent, ApiKeyIssued, ApiKeyRevoked } from '#contracts/events/workspace/workspace.ts';
import { ACTIVE_KEYS_MAX } from '#contracts/resources/workspace/api-key.ts';
import type { Scope } from '#contracts/values/scopes.ts';
import { derivedId } from '../ids.ts';
import { PersistentMap } from '../persistent-map.ts';

/** Stream `apiKeys-<workspaceId>`: which keys a workspace has. A key is known by its hash only. */
export type KnownKey = ApiKeyIssued['data'] & { readonly revoked_at: string | null };
export type ApiKeysState = { readonly keys: PersistentMap<KnownKey> };

const initial: ApiKeysState = { keys: PersistentMap.empty() };

const evolve = (state: ApiKeysState, event: ApiKeyEvent): ApiKeysState => {
  const { key_id } = event.data;
  switch (event.type) {
    case 'ApiKeyIssued':
      return { keys: state.keys.with(key_id, { ...event.data, revoked_at: null }) };
    case 'ApiKeyRevoked': {
      const key = state.keys.get(key_id);
      if (!key) return state;
      return { keys: state.keys.with(key_id, { ...key, revoked_at: event.data.revoked_at }) };
    }
  }
};

export const apiKeys = { initial, evolve };

/** Letters that do not look alike, as in ids that operators make. */
const ID_LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';
const ID_LENGTH = 16;
const HEX_DIGITS_OF_ID = 20;

/** The id of the key that a command makes: the same when the command comes again. */
export const keyIdOf = (commandId: string): string => {
  const hex = derivedId('api key', commandId).replaceAll('-', '').slice(0, HEX_DIGITS_OF_ID);
  const digits = BigInt(`0x${hex}`).toString(32).padStart(ID_LENGTH, '0');
  return `key_${Array.from(digits, (digit) => ID_LETTERS[Number.parseInt(digit, 32)]).join('')}`;
};

/** The text of a key, as far as it may be known, and who gets it. */
type NewKey = {
  readonly key_id: string;
  readonly sha256: string;
  readonly last_four: string;
  readonly member_id: string;
  /** What may be granted: the scopes of the member's role and, where a key asks, of that key. */
  readonly grantable: readonly Scope[];
};

/**
 * True when the key was issued already. A repetition that brings another text than the first attempt can
 * make nobody the owner of the first text, which went with an answer that never arrived.
 */
const isIssued = (state: ApiKeysState, { key_id, sha256 }: NewKey): boolean => {
  const known = state.keys.get(key_id);
  if (known && known.sha256 !== sha256) {
    throw new Refusal(
      'already_exists',
      `An earlier attempt made the key ${key_id}, and its answer was lost. Rotate or revoke that key.`,
    );
  }
  return known !== undefined;
};

/** Scopes never exceed `grantable` (specification, part "Authentication", item 7). */
const requireGrantable = (scopes: readonly Scope[], grantable: readonly Scope[]): void => {
  const beyond = scopes.filter((scope) => !grantable.includes(scope));
  if (beyond.length > 0) {
    throw new Refusal('scope_missing', `These scopes cannot be granted here: ${beyond.join(', ')}.`);
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
    const { grantable, at, ...issued } = input;
    if (isIssued(state, input)) return [];
    requireGrantable(issued.scopes, grantable);
    if ([...state.keys].filter(([, key]) => key.revoked_at === null).length >= ACTIVE_KEYS_MAX) {
      throw new Refusal(
        'too_many_keys',
        `A workspace has at most ${ACTIVE_KEYS_MAX} active keys. Revoke one that is not needed.`,
      );
    }
    return [{ type: 'ApiKeyIssued', data: { ...issued, issued_at: at } }];
  };

export const requireApiKey = (state: ApiKeysState, keyId: string): KnownKey => {
  const key = state.keys.get(keyId);
  if (!key) throw new Refusal('not_found', 'The workspace has no such key.');
  return key;
};

/**
 * Revokes a key and issues one of the same name and scopes in its place, in one append: never both, never
 * neither. The new key belongs to the member who asked, not to the member of the old one, and its scopes are
 * measured against the caller's: rotating somebody's key is no way to act as them or to get at more.
 */
export const rotateApiKey =
  (
    input: NewKey & {
      readonly workspace_id: string;
      readonly rotated_key_id: string;
      readonly at: string;
    },
  ) =>
  (state: ApiKeysState): readonly ApiKeyEvent[] => {
    const { workspace_id, key_id, sha256, last_four, member_id, rotated_key_id, grantable, at } = input;
    if (isIssued(state, input)) return [];
    const { name, scopes, revoked_at } = requireApiKey(state, rotated_key_id);
    if (revoked_at !== null) {
      throw new Refusal('key_revoked', 'This key is revoked already. Create a new one.');
    }
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

/** Revoking a key that is revoked, or that the workspace never had, is already so. */
export const revokeApiKey =
  (input: {
    readonly workspace_id: string;
    readonly key_id: string;
    readonly reason: ApiKeyRevoked['data']['reason'];
    readonly at: string;
  }) =>
  (state: ApiKeysState): readonly ApiKeyEvent[] => {
    const { workspace_id, key_id, reason, at } = input;
    if (state.keys.get(key_id)?.revoked_at !== null) return [];
    return [{ type: 'ApiKeyRevoked', data: { workspace_id, key_id, reason, revoked_at: at } }];
  };

const DAY_MS = 86_400_000;

/** Revokes every active key last used (or, never used, issued) at least so many days before `at`. */
export const revokeUnusedApiKeys =
  (input: {
    readonly workspace_id: string;
    readonly days: number;
    /** By key id; a key that was never used is absent. */
    readonly lastUses: ReadonlyMap<string, string>;
    readonly at: string;
  }) =>
  (state: ApiKeysState): readonly ApiKeyEvent[] => {
    const { workspace_id, days, lastUses, at } = input;
    const limitMs = Date.parse(at) - days * DAY_MS;
    return [...state.keys]
      .map(([, key]) => key)
      .filter((key) => key.revoked_at === null)
      .filter(({ key_id, issued_at }) => Date.parse(lastUses.get(key_id) ?? issued_at) <= limitMs)
      .map(({ key_id }) => ({
        type: 'ApiKeyRevoked',
        data: { workspace_id, key_id, reason: 'unused', revoked_at: at },
      }));
  };
