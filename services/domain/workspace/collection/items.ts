import { Refusal } from '#contracts/errors.ts';
import type { CollectionItemEvent } from '#contracts/events/workspace/collection.ts';
import type { Item } from '#contracts/values/items.ts';
import { COLLECTION_ITEMS_MAX } from '#contracts/resources/workspace/collection.ts';
import type { Collection } from './decider.ts';
import { PersistentMap } from '#domain/persistent-map.ts';

/** Stream `collection-<workspaceId>+<collectionId>`: the items of one collection. */
export type PlacedItem = Item & { readonly created_by: string; readonly created_at: string };
/** By type and key. */
export type ItemsState = PersistentMap<PlacedItem>;
/** Where the first item is: in the event that created the collection. */
type WithFirstItem = Pick<Collection, 'first_item' | 'created_by' | 'created_at'>;

const keyOf = ({ item_type, item_key }: Item): string => `${item_type}:${item_key}`;

const firstOf = ({ first_item, created_by, created_at }: WithFirstItem): PlacedItem | null =>
  first_item && { ...first_item, created_by, created_at };

const placedBy = (event: CollectionItemEvent): PlacedItem | null => {
  switch (event.type) {
    case 'CollectionItemAdded': {
      const { item_type, item_key, added_by, added_at } = event.data;
      return { item_type, item_key, created_by: added_by, created_at: added_at };
    }
    case 'CollectionItemRemoved':
      return null;
  }
};

const evolve = (state: ItemsState, event: CollectionItemEvent): ItemsState => {
  const placed = placedBy(event);
  return placed ? state.with(keyOf(placed), placed) : state.without(keyOf(event.data));
};

/** Begins with the item that the collection was created with. */
export const collectionItems = (collection: WithFirstItem) => {
  const first = firstOf(collection);
  const none = PersistentMap.empty<PlacedItem>();
  return { initial: first ? none.with(keyOf(first), first) : none, evolve };
};

export const findItem = (state: ItemsState, item: Item): PlacedItem | undefined => state.get(keyOf(item));

export type CollectionItems = {
  /** Newest first. */
  readonly items: readonly PlacedItem[];
  /** When one was last added or removed; `null`: none since the collection was created. */
  readonly changed_at: string | null;
};

/** All items of a collection, from all events of its stream. */
export const itemsOf = (
  collection: WithFirstItem,
  events: readonly CollectionItemEvent[],
): CollectionItems => {
  const items = new Map<string, PlacedItem>();
  const put = (item: Item, placed: PlacedItem | null): void => {
    const key = keyOf(item);
    items.delete(key);
    if (placed) items.set(key, placed);
  };
  const first = firstOf(collection);
  if (first) put(first, first);
  let changed_at: string | null = null;
  for (const event of events) {
    put(event.data, placedBy(event));
    const at = event.type === 'CollectionItemAdded' ? event.data.added_at : event.data.removed_at;
    if (changed_at === null || at > changed_at) changed_at = at;
  }
  // Those of one moment stay in the order of the log.
  const newest = [...items.values()]
    .toReversed()
    .toSorted((one, other) =>
      one.created_at === other.created_at ? 0 : one.created_at < other.created_at ? 1 : -1,
    );
  return { items: newest, changed_at };
};

type Command = {
  readonly workspace_id: string;
  readonly collection_id: string;
  readonly item: Item;
  readonly by: string;
  readonly at: string;
};

/** Adding a present one changes nothing. */
export const addCollectionItem =
  ({ workspace_id, collection_id, item, by, at }: Command) =>
  (state: ItemsState): readonly CollectionItemEvent[] => {
    if (findItem(state, item)) return [];
    if (state.size >= COLLECTION_ITEMS_MAX) {
      throw new Refusal(
        'limit_reached',
        `A collection holds at most ${COLLECTION_ITEMS_MAX} items. Remove some.`,
      );
    }
    const added = { workspace_id, collection_id, ...item, added_by: by, added_at: at };
    return [{ type: 'CollectionItemAdded', data: added }];
  };

export const removeCollectionItem =
  ({ workspace_id, collection_id, item, by, at }: Command) =>
  (state: ItemsState): readonly CollectionItemEvent[] => {
    if (!findItem(state, item)) return [];
    const removed = { workspace_id, collection_id, ...item, removed_by: by, removed_at: at };
    return [{ type: 'CollectionItemRemoved', data: removed }];
  };
