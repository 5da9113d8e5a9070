import type { Item } from '#contracts/values/items.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `collection-<workspaceId>`: one for the tree, so that concurrent changes create no cycle. */
export const COLLECTION = 'collection';
export const collectionTreeStream = (workspaceId: string): string => `${COLLECTION}-${workspaceId}`;

/** Stream `collection-<workspaceId>+<collectionId>`: items, separate from changes of the tree. */
export const collectionItemsStream = (workspaceId: string, collectionId: string): string =>
  `${COLLECTION}-${workspaceId}+${collectionId}`;

export type Visibility = 'workspace' | 'private';

type CollectionKey = { readonly workspace_id: string; readonly collection_id: string };
type CollectionChange = CollectionKey & { readonly changed_by: string; readonly changed_at: string };

export type CollectionCreated = Event<
  'CollectionCreated',
  CollectionKey & {
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
export type CollectionRenamed = Event<'CollectionRenamed', CollectionChange & { readonly name: string }>;
export type CollectionDescribed = Event<
  'CollectionDescribed',
  CollectionChange & { readonly description: string | null }
>;
export type CollectionMoved = Event<
  'CollectionMoved',
  CollectionChange & { readonly parent_id: string | null }
>;
export type CollectionVisibilityChanged = Event<
  'CollectionVisibilityChanged',
  CollectionChange & { readonly visibility: Visibility }
>;
export type CollectionEditorsChanged = Event<
  'CollectionEditorsChanged',
  CollectionChange & { readonly editors: readonly string[] }
>;
export type CollectionDeleted = Event<
  'CollectionDeleted',
  CollectionKey & {
    /** Collections inside the deleted one, at any depth. */
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
  CollectionKey & Item & { readonly added_by: string; readonly added_at: string }
>;
export type CollectionItemRemoved = Event<
  'CollectionItemRemoved',
  CollectionKey & Item & { readonly removed_by: string; readonly removed_at: string }
>;
export type CollectionItemEvent = CollectionItemAdded | CollectionItemRemoved;
export type CollectionEvent = CollectionTreeEvent | CollectionItemEvent;

export const collectionVersions: EventVersions<CollectionEvent> = {
  CollectionCreated: [],
  CollectionRenamed: [],
  CollectionDescribed: [],
  CollectionMoved: [],
  CollectionVisibilityChanged: [],
  CollectionEditorsChanged: [],
  CollectionDeleted: [],
  CollectionItemAdded: [],
  CollectionItemRemoved: [],
};
