import { type ApiKeyEvent, apiKeysStream } from '#contracts/events/workspace/workspace.ts';
import type { Scope } from '#contracts/values/access.ts';
import {
  apiKeys,
  type ApiKeysState,
  everyApiKey,
  issueApiKey,
  revokeApiKey,
  rotateApiKey,
} from '#domain/workspace/api-keys.ts';
import type { Shown, Write } from '../history.ts';
import { type Kind, statesOf } from './kind.ts';
import { decidedOrRefused, streamModel, type StreamRules, type StreamState } from './stream-model.ts';

/** The service chooses ids and texts. */

/** Writes that issue, in 100; those left after revocations rotate. */
const ISSUES_OF_100 = 45;
const REVOKES_OF_100 = 80;
/** Newest keys to revoke or rotate: few, so that callers do so at the same time. */
const NEWEST = 4;
const SCOPES: readonly Scope[] = ['me:read'];

export type KeyOperation =
  | { readonly kind: 'issue'; readonly name: string }
  | { readonly kind: 'rotate'; readonly id: string }
  | { readonly kind: 'revoke'; readonly id: string };
/** `lost`: the reply with the key's text did not arrive. `refused`: the key to rotate was revoked. */
export type KeyOutcome =
  | { readonly kind: 'issued'; readonly id: string }
  | { readonly kind: 'lost' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'revoked'; readonly removed: boolean };
export type KeyWrite = Write<KeyOperation, KeyOutcome>;

type Owner = {
  readonly workspaceId: string;
  readonly memberId: string;
  /** Id of the key that the callers use themselves. */
  readonly keyId: string;
};

const timeOf = (event: ApiKeyEvent): string =>
  event.type === 'ApiKeyIssued' ? event.data.issued_at : event.data.revoked_at;

/** Reads ids that the service chose from the next events. */
const chosenFor = ({ outcome }: KeyWrite, next: readonly ApiKeyEvent[]) => {
  const issued = next.slice(0, 2).find((event) => event.type === 'ApiKeyIssued')?.data;
  return {
    key_id: outcome.kind === 'issued' ? outcome.id : (issued?.key_id ?? ''),
    sha256: issued?.sha256 ?? '',
    last_four: issued?.last_four ?? '',
  };
};

const rulesOf = ({
  workspaceId: workspace_id,
  memberId: member_id,
}: Owner): StreamRules<ApiKeysState, ApiKeyEvent, KeyOperation, KeyOutcome> => ({
  decider: apiKeys,
  decide: (state, write, next) => {
    const { operation } = write;
    const at = next[0] ? timeOf(next[0]) : '';
    const issue = { workspace_id, member_id, grantable: SCOPES, at };
    return decidedOrRefused(() => {
      switch (operation.kind) {
        case 'issue': {
          const { key_id, ...chosen } = chosenFor(write, next);
          const named = { key_id, name: operation.name, ...chosen, scopes: SCOPES };
          return issueApiKey({ workspace_id, ...named, member_id, grantable: SCOPES, at })(state);
        }
        case 'rotate':
          return rotateApiKey({ ...issue, ...chosenFor(write, next), rotated_key_id: operation.id })(state);
        case 'revoke':
          return revokeApiKey({ workspace_id, key_id: operation.id, reason: 'revoked', at })(state);
      }
    });
  },
  mayTell: (outcome, decided) => {
    switch (outcome.kind) {
      case 'refused':
        return decided === null;
      case 'issued':
      case 'lost':
        return decided !== null && decided.length > 0;
      case 'revoked':
        return decided?.length === (outcome.removed ? 1 : 0);
    }
  },
  timeOf,
});

/** `null` for a reply that may not be sent. */
const outcomeOf = (
  { kind }: KeyOperation,
  { status, data, message }: { readonly status: number; readonly data: unknown; readonly message: string },
): KeyOutcome | null => {
  if (kind === 'revoke')
    return status === 200 ? { kind: 'revoked', removed: (data as { removed: boolean }).removed } : null;
  if (status === 201) return { kind: 'issued', id: (data as { key_id: string }).key_id };
  if (status !== 409) return null;
  if (/earlier attempt|was issued with/.test(message)) return { kind: 'lost' };
  return kind === 'rotate' && message.startsWith('This key is already revoked') ? { kind: 'refused' } : null;
};

type ShownKey = { readonly name: string; readonly created_at: string; readonly revoked_at: string | null };
const textOf = ({ name, created_at, revoked_at }: ShownKey): string =>
  JSON.stringify({ name, created_at, revoked_at });

export const apiKeysOf = (
  owner: Owner,
): Kind<KeyOperation, KeyOutcome, StreamState<ApiKeysState>, ApiKeyEvent> => {
  const { workspaceId } = owner;
  const path = `/v1/workspaces/${workspaceId}/api-keys`;
  return {
    name: 'API keys',
    path,
    streams: apiKeysStream(workspaceId),
    untouched: owner.keyId,
    choose: (choose, { ids, text }) => {
      const id = ids.slice(-NEWEST)[choose(Math.min(NEWEST, ids.length))];
      const kind = choose(100);
      if (kind < ISSUES_OF_100 || id === undefined) return { kind: 'issue', name: text };
      return kind < REVOKES_OF_100 ? { kind: 'revoke', id } : { kind: 'rotate', id };
    },
    requestOf: (operation) => {
      switch (operation.kind) {
        case 'issue':
          return { method: 'POST', path, body: { name: operation.name, scopes: SCOPES } };
        case 'rotate':
          return { method: 'POST', path: `${path}/${operation.id}/rotate`, body: {} };
        case 'revoke':
          return { method: 'DELETE', path: `${path}/${operation.id}`, body: {} };
      }
    },
    outcomeOf,
    recordOf: (data) => [(data as { key_id: string }).key_id, textOf(data as ShownKey)],
    showing: new Set(['issue', 'rotate']),
    objectsOf: (calls, events) => {
      // The callers' own key was issued before the first call.
      const before = events.findIndex(({ metadata }) => metadata.actor.kind === 'api_key');
      const model = streamModel(rulesOf(owner), events, before === -1 ? events.length : before);
      return [{ model, calls, parts: [] }];
    },
    prefixesOf: (events): readonly Shown[] =>
      statesOf(everyApiKey, events).map(
        (keys) => new Map([...keys].map(([id, one]) => [id, textOf({ ...one, created_at: one.issued_at })])),
      ),
  };
};
