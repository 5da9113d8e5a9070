import { type CollectionTreeEvent, collectionTreeStream } from '#contracts/events/workspace/collection.ts';
import {
  changeCollection,
  type Collection,
  collectionTree,
  type CollectionTree,
  createCollection,
  deleteCollection,
} from '#domain/workspace/collection/decider.ts';
import type { Shown, Write } from '../history.ts';
import { type Kind, statesOf } from './kind.ts';
import { decidedOrRefused, streamModel, type StreamRules, type StreamState } from './stream-model.ts';

/** In a deletion, the collections inside go along. */

/** Writes that create, in 100; those left after renames delete. */
const CREATES_OF_100 = 45;
const RENAMES_OF_100 = 75;
const INSIDE_OF_100 = 40;
/** Newest collections to write to: few, so that callers do so at the same time. */
const NEWEST = 5;

export type CollectionOperation =
  | { readonly kind: 'create'; readonly name: string; readonly inside: string | null }
  | { readonly kind: 'rename'; readonly id: string; readonly name: string }
  | { readonly kind: 'delete'; readonly id: string };
/** `refused`: there was no such collection. */
export type CollectionOutcome =
  | { readonly kind: 'created'; readonly id: string }
  | { readonly kind: 'renamed' }
  | { readonly kind: 'deleted'; readonly removed: boolean }
  | { readonly kind: 'refused' };
export type CollectionWrite = Write<CollectionOperation, CollectionOutcome>;

type Owner = { readonly workspaceId: string; readonly memberId: string };

const timeOf = ({ data }: CollectionTreeEvent): string => {
  if ('created_at' in data) return data.created_at;
  return 'deleted_at' in data ? data.deleted_at : data.changed_at;
};

/** Id from the reply, otherwise from the next event. */
const createdId = ({ outcome }: CollectionWrite, next: CollectionTreeEvent | undefined): string => {
  if (outcome.kind === 'created') return outcome.id;
  return next?.type === 'CollectionCreated' ? next.data.collection_id : '';
};

const rulesOf = ({
  workspaceId: workspace_id,
  memberId: member_id,
}: Owner): StreamRules<CollectionTree, CollectionTreeEvent, CollectionOperation, CollectionOutcome> => ({
  decider: collectionTree,
  decide: (state, write, [next]) => {
    const { operation } = write;
    const about = { workspace_id, by: { member_id, role: 'owner' }, at: next ? timeOf(next) : '' } as const;
    return decidedOrRefused(() => {
      switch (operation.kind) {
        case 'create':
          return createCollection({
            ...about,
            collection_id: createdId(write, next),
            name: operation.name,
            description: null,
            parent_id: operation.inside,
            visibility: 'workspace',
            editors: [],
            first_item: null,
          })(state);
        case 'rename': {
          const change = { name: operation.name };
          return changeCollection({ ...about, collection_id: operation.id, change })(state);
        }
        case 'delete':
          return deleteCollection({ ...about, collection_id: operation.id })(state);
      }
    });
  },
  mayTell: (outcome, decided) => {
    switch (outcome.kind) {
      case 'refused':
        return decided === null;
      case 'created':
        return decided?.length === 1;
      case 'renamed':
        return decided !== null;
      case 'deleted':
        return decided?.length === (outcome.removed ? 1 : 0);
    }
  },
  timeOf,
});

type ShownCollection = Pick<Collection, 'name' | 'parent_id' | 'created_at' | 'updated_at'>;
const textOf = ({ name, parent_id, created_at, updated_at }: ShownCollection): string =>
  JSON.stringify({ name, parent_id, created_at, updated_at });

export const collectionsOf = (
  owner: Owner,
): Kind<CollectionOperation, CollectionOutcome, StreamState<CollectionTree>, CollectionTreeEvent> => {
  const { workspaceId } = owner;
  const path = `/v1/workspaces/${workspaceId}/collections`;
  return {
    name: 'collections',
    path,
    streams: collectionTreeStream(workspaceId),
    choose: (choose, { ids, text }) => {
      const id = ids.slice(-NEWEST)[choose(Math.min(NEWEST, ids.length))];
      const kind = choose(100);
      if (kind < CREATES_OF_100 || id === undefined) {
        return { kind: 'create', name: text, inside: choose(100) < INSIDE_OF_100 ? (id ?? null) : null };
      }
      return kind < RENAMES_OF_100 ? { kind: 'rename', id, name: text } : { kind: 'delete', id };
    },
    requestOf: (operation) => {
      switch (operation.kind) {
        case 'create':
          return { method: 'POST', path, body: { name: operation.name, parent_id: operation.inside } };
        case 'rename':
          return { method: 'PATCH', path: `${path}/${operation.id}`, body: { name: operation.name } };
        case 'delete':
          return { method: 'DELETE', path: `${path}/${operation.id}`, body: {} };
      }
    },
    outcomeOf: ({ kind }, { status, data }) => {
      if (status === 404) return { kind: 'refused' };
      if (kind === 'create')
        return status === 201 ? { kind: 'created', id: (data as { id: string }).id } : null;
      if (status !== 200) return null;
      return kind === 'rename'
        ? { kind: 'renamed' }
        : { kind: 'deleted', removed: (data as { removed: boolean }).removed };
    },
    recordOf: (data) => [(data as { id: string }).id, textOf(data as ShownCollection)],
    showing: new Set(['create', 'rename']),
    objectsOf: (calls, events) => [{ model: streamModel(rulesOf(owner), events), calls, parts: [] }],
    prefixesOf: (events): readonly Shown[] =>
      statesOf(collectionTree, events).map(
        ({ collections }) => new Map([...collections].map(([id, one]) => [id, textOf(one)])),
      ),
  };
};
