import { collectionItemsStream, collectionTreeStream } from '#contracts/events/workspace/collection.ts';
import { collectionItems, type CollectionItems, itemsOf } from '#domain/workspace/collection/items.ts';
import {
  type Collection,
  type CollectionTree,
  collectionTree,
} from '#domain/workspace/collection/decider.ts';
import type { WorkspaceCommands } from '#application/commands/workspace-commands.ts';

/** Reads the log, so that it finds a collection that was just created. `position`: `null` for an empty tree. */
export const readTree = async (
  workspaceCommands: WorkspaceCommands,
  workspaceId: string,
): Promise<{ readonly tree: CollectionTree; readonly position: bigint | null }> => {
  const { state, position } = await workspaceCommands.load(collectionTreeStream(workspaceId), collectionTree);
  return { tree: state, position: position > 0n ? position : null };
};

/** Reads the last snapshot and the events after it. */
export const readItems = async (
  workspaceCommands: Pick<WorkspaceCommands, 'load'>,
  workspaceId: string,
  collectionId: string,
  collection: Collection,
): Promise<CollectionItems> => {
  const stream = collectionItemsStream(workspaceId, collectionId);
  const { state } = await workspaceCommands.load(stream, collectionItems(collection));
  return itemsOf(state);
};
