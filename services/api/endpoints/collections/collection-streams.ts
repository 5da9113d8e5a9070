import {
  type CollectionItemFact,
  collectionItemsStream,
  type CollectionTreeFact,
  collectionTreeStream,
} from '#contracts/events/collection.ts';
import { type CollectionItems, itemsOf } from '#domain/collection-items.ts';
import { type Collection, type CollectionTree, collectionTree } from '#domain/collection.ts';
import type { EventStore } from '#platform/event-store.ts';

/** The log is asked, not a read model: a collection created a moment ago is there, and a deleted one is not. */

/** `position`: where the last change of the tree stands in the log; `null` of an empty one. */
export const readTree = async (
  eventStore: EventStore,
  workspaceId: string,
): Promise<{ readonly tree: CollectionTree; readonly position: bigint | null }> => {
  let tree = collectionTree.initial;
  let position: bigint | null = null;
  for await (const fact of eventStore.read<CollectionTreeFact>(collectionTreeStream(workspaceId))) {
    tree = collectionTree.evolve(tree, fact);
    position = fact.position;
  }
  return { tree, position };
};

export const readItems = async (
  eventStore: EventStore,
  workspaceId: string,
  collectionId: string,
  collection: Collection,
): Promise<CollectionItems> => {
  const facts: CollectionItemFact[] = [];
  const stream = collectionItemsStream(workspaceId, collectionId);
  for await (const fact of eventStore.read<CollectionItemFact>(stream)) facts.push(fact);
  return itemsOf(collection, facts);
};
