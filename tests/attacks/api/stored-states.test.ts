import { expect } from 'vitest';
import type { CollectionTreeEvent } from '#contracts/events/workspace/collection.ts';
import type { SignInEvent } from '#contracts/events/workspace/sign-in.ts';
import type { ApiKeyEvent } from '#contracts/events/workspace/workspace.ts';
import type { Decider } from '#domain/decider.ts';
import { apiKeys } from '#domain/workspace/api-keys.ts';
import { collectionTree } from '#domain/workspace/collection/decider.ts';
import { signInDecider } from '#domain/workspace/sign-in.ts';
import { attack, tries } from '../attack.ts';

/** Removals after which a state must have reached its largest size. */
const FEW = 2_000;
const MANY = 2 * tries(FEW);
const AT = '2026-11-20T12:00:00.000Z';
const workspace_id = 'ws_1';

const keyEvents = (place: number): readonly ApiKeyEvent[] => {
  const key_id = `key_${String(place).padStart(16, '0')}`;
  const issued = { workspace_id, key_id, name: 'a key', sha256: 'ab'.repeat(32), last_four: '0123' };
  return [
    { type: 'ApiKeyIssued', data: { ...issued, scopes: [], member_id: 'mem_1', issued_at: AT } },
    { type: 'ApiKeyRevoked', data: { workspace_id, key_id, reason: 'revoked', revoked_at: AT } },
  ];
};

const collectionEvents = (place: number): readonly CollectionTreeEvent[] => {
  const collection_id = `c1f2b6a0-52a7-5b7e-9c4b-${String(place).padStart(12, '0')}`;
  const created = { workspace_id, collection_id, name: 'a', description: null, parent_id: null };
  const rights = { visibility: 'workspace', editors: [], first_item: null } as const;
  return [
    { type: 'CollectionCreated', data: { ...created, ...rights, created_by: 'm', created_at: AT } },
    {
      type: 'CollectionDeleted',
      data: { workspace_id, collection_id, inside: [], deleted_by: 'm', deleted_at: AT },
    },
  ];
};

const signInEvents = (place: number): readonly SignInEvent[] => {
  const signed = {
    workspace_id,
    member_id: 'mem_1',
    sign_in_id: `sign-in ${String(place).padStart(16, '0')}`,
  };
  return [
    { type: 'MemberSignedIn', data: { ...signed, method: 'code', signed_in_at: AT } },
    { type: 'MemberSignedOut', data: { ...signed, signed_out_at: AT } },
  ];
};

const largestStates = <State, E>(decider: Decider<State, E>, eventsOf: (place: number) => readonly E[]) => {
  const { initial, evolve, snapshot } = decider;
  if (!snapshot) throw new Error('the decider has no snapshots');
  const largest = { few: 0, many: 0 };
  let state = initial;
  for (let place = 0; place < MANY; place += 1) {
    state = eventsOf(place).reduce(evolve, state);
    if (place % 97 !== 0) continue;
    const { length } = JSON.stringify(snapshot.encode(state));
    largest.many = Math.max(largest.many, length);
    if (place < FEW) largest.few = largest.many;
  }
  return largest;
};

attack(`the stored state of a workspace does not grow with ${MANY} removals`, () => {
  const states = {
    'API keys': largestStates(apiKeys, keyEvents),
    collections: largestStates(collectionTree, collectionEvents),
    'sign-ins': largestStates(signInDecider, signInEvents),
  };
  for (const { few, many } of Object.values(states)) expect(many).toBeLessThanOrEqual(1.1 * few);
  return Object.entries(states)
    .map(([name, { few, many }]) => `${name} ${few} characters after ${FEW}, at most ${many} later`)
    .join('; ');
});
