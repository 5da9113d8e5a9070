import type { Item } from '#contracts/values/items.ts';
import type { Event } from '../event.ts';

/**
 * Stream `collection-<workspaceId>`: the tree of a workspace's collections. One stream, so that no two changes
 * at once can close a circle, and a collection goes with everything inside it in one event.
 */
export const COLLECTION = 'collection';
export const collectionTreeStream = (workspaceId: string): string => `${COLLECTION}-${workspaceId}`;

/** Stream `collection-<workspaceId>+<collectionId>`: the items of one collection, apart from the tree's changes. */
export const collectionItemsStream = (workspaceId: string, collectionId: string): string =>
  `${COLLECTION}-${workspaceId}+${collectionId}`;

export type Visibility = 'workspace' | 'private';

/** Of which collection. */
type Named = { readonly workspace_id: string; readonly collection_id: string };
type Change = Named & { readonly changed_by: string; readonly changed_at: string };

export type CollectionCreated = Event<
  'CollectionCreated',
  Named & {
    readonly name: string;
    readonly description: string | null;
    readonly parent_id: string | null;
    readonly visibility: Visibility;
    /** Member ids, sorted, without the creator. */
    readonly editors: readonly string[];
    readonly first_item: Item | null;
    readonly created_by: string;
    readonly created_at: string;
  }
>;
export type CollectionRenamed = Event<'CollectionRenamed', Change & { readonly name: string }>;
export type CollectionDescribed = Event<
  'CollectionDescribed',
  Change & { readonly description: string | null }
>;
export type CollectionMoved = Event<'CollectionMoved', Change & { readonly parent_id: string | null }>;
export type CollectionVisibilityChanged = Event<
  'CollectionVisibilityChanged',
  Change & { readonly visibility: Visibility }
>;
export type CollectionEditorsChanged = Event<
  'CollectionEditorsChanged',
  Change & { readonly editors: readonly string[] }
>;
export type CollectionDeleted = Event<
  'CollectionDeleted',
  Named & {
    /** Every collection that stood in it, at any depth. */
    readonly inside: readonly string[];
    readonly deleted_by: string;
    readonly deleted_at: string;
  }
>;
export type CollectionTreeEvent =
  | CollectionCreated
  | CollectionRenamed
  | CollectionDescribed
  | CollectionMoved
  | CollectionVisibilityChanged
  | CollectionEditorsChanged
  | CollectionDeleted;

export type CollectionItemAdded = Event<
  'CollectionItemAdded',
  Named & Item & { readonly added_by: string; readonly added_at: string }
>;
export type CollectionItemRemoved = Event<
  'CollectionItemRemoved',
  Named & Item & { readonly removed_by: string; readonly removed_at: string }
>;
export type CollectionItemEvent = CollectionItemAdded | CollectionItemRemoved;
export type CollectionEvent = CollectionTreeEvent | CollectionItemEvent;
