import { Refusal } from '#contracts/errors.ts';
import type { CollectionItemEvent } from '#contracts/events/workspace/collection.ts';
import type { Item } from '#contracts/values/items.ts';
import { COLLECTION_ITEMS_MAX } from '#contracts/resources/workspace/collection.ts';
import type { Collection } from './decider.ts';
import type { Decider, SnapshotCodec } from '#domain/decider.ts';
import { PersistentMap, type PersistentMapJson } from '#domain/persistent-map.ts';

/**
 * Aggregate collection items, stream `collection-<workspaceId>+<collectionId>`: the items of one collection.
 * Parts, in order: state, evolve, list of items, decisions (`addCollectionItem`, `removeCollectionItem`).
 */

export type PlacedItem = Item & { readonly created_by: string; readonly created_at: string };
/** Member and time of an item. An array, because a state of many items is read with each command. */
type Placed = readonly [created_by: string, created_at: string];
/** Items by type and key. */
export type ItemsState = PersistentMap<Placed>;
/** The fields of a collection that hold its first item, which is in the event that created the collection. */
type WithFirstItem = Pick<Collection, 'first_item' | 'created_by' | 'created_at'>;

const keyOf = ({ item_type, item_key }: Item): string => `${item_type}:${item_key}`;

const firstItem = ({ first_item, created_by, created_at }: WithFirstItem): PlacedItem | null =>
  first_item && { ...first_item, created_by, created_at };

/** Returns the item after the event; `null` when it is removed. */
const itemAfter = (event: CollectionItemEvent): PlacedItem | null => {
  switch (event.type) {
    case 'CollectionItemAdded': {
      const { item_type, item_key, added_by, added_at } = event.data;
      return { item_type, item_key, created_by: added_by, created_at: added_at };
    }
    case 'CollectionItemRemoved':
      return null;
  }
};

const withItem = (state: ItemsState, item: PlacedItem): ItemsState =>
  state.with(keyOf(item), [item.created_by, item.created_at]);

const evolve = (state: ItemsState, event: CollectionItemEvent): ItemsState => {
  const itemState = itemAfter(event);
  return itemState ? withItem(state, itemState) : state.without(keyOf(event.data));
};

const snapshot: SnapshotCodec<ItemsState> = {
  version: 2,
  encode: (state) => state.toJson(),
  decode: (json) => PersistentMap.fromJson(json as PersistentMapJson),
};

/** Returns the decider of a collection's items. Its initial state has the item that the collection was created with. */
export const collectionItems = (collection: WithFirstItem): Decider<ItemsState, CollectionItemEvent> => {
  const first = firstItem(collection);
  const none = PersistentMap.empty<Placed>();
  return { initial: first ? withItem(none, first) : none, evolve, snapshot };
};

export const findItem = (state: ItemsState, { item_type, item_key }: Item): PlacedItem | undefined => {
  const [created_by, created_at] = state.get(keyOf({ item_type, item_key })) ?? [];
  return created_by === undefined || created_at === undefined
    ? undefined
    : { item_type, item_key, created_by, created_at };
};

export type CollectionItems = {
  /** Newest first. */
  readonly items: readonly PlacedItem[];
  /** Time of the last addition or removal; `null` when there was none since the collection was created. */
  readonly changed_at: string | null;
};

/** Returns all items of a collection, from all events of its stream. */
export const itemsOf = (
  collection: WithFirstItem,
  events: readonly CollectionItemEvent[],
): CollectionItems => {
  const items = new Map<string, PlacedItem>();
  const replaceItem = (item: Item, itemState: PlacedItem | null): void => {
    const key = keyOf(item);
    items.delete(key);
    if (itemState) items.set(key, itemState);
  };
  const first = firstItem(collection);
  if (first) replaceItem(first, first);
  let changed_at: string | null = null;
  for (const event of events) {
    replaceItem(event.data, itemAfter(event));
    const at = event.type === 'CollectionItemAdded' ? event.data.added_at : event.data.removed_at;
    if (changed_at === null || at > changed_at) changed_at = at;
  }
  // The sort is stable, so items of the same time stay in the order of the log, newest first.
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

/** Adds an item. Records nothing when the collection already has it. */
export const addCollectionItem =
  ({ workspace_id, collection_id, item, by, at }: Command) =>
  (state: ItemsState): readonly CollectionItemEvent[] => {
    if (findItem(state, item)) return [];
    if (state.size >= COLLECTION_ITEMS_MAX) {
      throw new Refusal(
        'limit_reached',
        `A collection can hold at most ${COLLECTION_ITEMS_MAX} items. Remove some.`,
      );
    }
    const added = { workspace_id, collection_id, ...item, added_by: by, added_at: at };
    return [{ type: 'CollectionItemAdded', data: added }];
  };

/** Removes an item. Records nothing when the collection does not have it. */
export const removeCollectionItem =
  ({ workspace_id, collection_id, item, by, at }: Command) =>
  (state: ItemsState): readonly CollectionItemEvent[] => {
    if (!findItem(state, item)) return [];
    const removed = { workspace_id, collection_id, ...item, removed_by: by, removed_at: at };
    return [{ type: 'CollectionItemRemoved', data: removed }];
  };
