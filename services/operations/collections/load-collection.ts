import { LRUCache } from 'lru-cache';
import {
  type CollectionItemEvent,
  collectionItemsStream,
  type CollectionTreeEvent,
  collectionTreeStream,
} from '#contracts/events/workspace/collection.ts';
import { type CollectionItems, itemsOf } from '#domain/workspace/collection/items.ts';
import {
  type Collection,
  type CollectionTree,
  collectionTree,
} from '#domain/workspace/collection/decider.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';

/** A cached tree. `position`: log position of its last event; `null` for an empty tree. */
type ReadTree = {
  readonly tree: CollectionTree;
  readonly revision: bigint;
  readonly position: bigint | null;
};

/**
 * Maximum number of cached trees in a process. A cached tree needs only the events appended since it was read.
 */
const REMEMBERED_MAX = 200;
const remembered = new WeakMap<EventStore, LRUCache<string, ReadTree>>();

const treesOf = (eventStore: EventStore): LRUCache<string, ReadTree> => {
  const known = remembered.get(eventStore) ?? new LRUCache<string, ReadTree>({ max: REMEMBERED_MAX });
  remembered.set(eventStore, known);
  return known;
};

/**
 * Returns the collection tree. Reads the log, not a read model: a collection just created is found, a deleted
 * one is not.
 */
export const readTree = async (
  eventStore: EventStore,
  workspaceId: string,
): Promise<Pick<ReadTree, 'tree' | 'position'>> => {
  const trees = treesOf(eventStore);
  const stream = collectionTreeStream(workspaceId);
  const known = trees.get(stream) ?? { tree: collectionTree.initial, revision: -1n, position: null };
  let { tree, revision, position } = known;
  for await (const event of eventStore.read<CollectionTreeEvent>(stream, known.revision)) {
    tree = collectionTree.evolve(tree, event);
    ({ revision, position } = event);
  }
  if ((trees.get(stream)?.revision ?? -1n) < revision) trees.set(stream, { tree, revision, position });
  return { tree, position };
};

/** Returns the items of a collection, read from the log. */
export const readItems = async (
  eventStore: EventStore,
  workspaceId: string,
  collectionId: string,
  collection: Collection,
): Promise<CollectionItems> => {
  const events: CollectionItemEvent[] = [];
  const stream = collectionItemsStream(workspaceId, collectionId);
  for await (const event of eventStore.read<CollectionItemEvent>(stream)) events.push(event);
  return itemsOf(collection, events);
};
