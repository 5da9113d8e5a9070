import {
  type CollectionItemEvent,
  collectionItemsStream,
  collectionTreeStream,
} from '#contracts/events/workspace/collection.ts';
import { type CollectionItems, itemsOf } from '#domain/workspace/collection/items.ts';
import {
  type Collection,
  type CollectionTree,
  collectionTree,
} from '#domain/workspace/collection/decider.ts';
import type { WorkspaceCommands } from '#application/commands/workspace-commands.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';

/**
 * Returns the collection tree. Reads the log, not a read model: a collection just created is found, a deleted
 * one is not. `position`: log position of its last event; `null` for an empty tree.
 */
export const readTree = async (
  workspaceCommands: WorkspaceCommands,
  workspaceId: string,
): Promise<{ readonly tree: CollectionTree; readonly position: bigint | null }> => {
  const { state, position } = await workspaceCommands.load(collectionTreeStream(workspaceId), collectionTree);
  return { tree: state, position: position > 0n ? position : null };
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
