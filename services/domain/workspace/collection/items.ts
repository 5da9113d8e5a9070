import { Refusal } from '#contracts/errors.ts';
import type { CollectionItemEvent } from '#contracts/events/workspace/collection.ts';
import type { Item } from '#contracts/values/items.ts';
import { COLLECTION_ITEMS_MAX } from '#contracts/resources/workspace/collection.ts';
import type { Collection } from './decider.ts';
import type { Decider, SnapshotCodec } from '#domain/decider.ts';
import { PersistentMap, type PersistentMapJson } from '#domain/persistent-map.ts';

/** Aggregate collection items, stream `collection-<workspaceId>+<collectionId>`: the items of one collection. */

export type PlacedItem = Item & { readonly created_by: string; readonly created_at: string };
/** An array, because each command reads a state of many items. */
type Placed = readonly [created_by: string, created_at: string, change: number];
export type ItemsState = {
  readonly items: PersistentMap<Placed>;
  /** Additions and removals since creation. */
  readonly changes: number;
  readonly changed_at: string | null;
};
type WithFirstItem = Pick<Collection, 'first_item' | 'created_by' | 'created_at'>;

const keyOf = ({ item_type, item_key }: Item): string => `${item_type}:${item_key}`;

const firstItem = ({ first_item, created_by, created_at }: WithFirstItem): PlacedItem | null =>
  first_item && { ...first_item, created_by, created_at };

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

const withItem = (items: PersistentMap<Placed>, item: PlacedItem, change: number): PersistentMap<Placed> =>
  items.with(keyOf(item), [item.created_by, item.created_at, change]);

const evolve = (state: ItemsState, event: CollectionItemEvent): ItemsState => {
  const item = itemAfter(event);
  const at = event.type === 'CollectionItemAdded' ? event.data.added_at : event.data.removed_at;
  const changes = state.changes + 1;
  return {
    items: item ? withItem(state.items, item, changes) : state.items.without(keyOf(event.data)),
    changes,
    changed_at: state.changed_at !== null && state.changed_at > at ? state.changed_at : at,
  };
};

type ItemsJson = Omit<ItemsState, 'items'> & { readonly items: PersistentMapJson };
const snapshot: SnapshotCodec<ItemsState> = {
  version: 3,
  encode: ({ items, ...state }) => ({ ...state, items: items.toJson() }),
  decode: (json) => {
    const { items, ...state } = json as ItemsJson;
    return { ...state, items: PersistentMap.fromJson(items) };
  },
};

export const collectionItems = (collection: WithFirstItem): Decider<ItemsState, CollectionItemEvent> => {
  const first = firstItem(collection);
  const none = PersistentMap.empty<Placed>();
  const items = first ? withItem(none, first, 0) : none;
  return { initial: { items, changes: 0, changed_at: null }, evolve, snapshot };
};

export const findItem = (state: ItemsState, { item_type, item_key }: Item): PlacedItem | undefined => {
  const [created_by, created_at] = state.items.get(keyOf({ item_type, item_key })) ?? [];
  return created_by === undefined || created_at === undefined
    ? undefined
    : { item_type, item_key, created_by, created_at };
};

export type CollectionItems = {
  readonly items: readonly PlacedItem[];
  /** `null` without a change since creation. */
  readonly changed_at: string | null;
};

/** Items of equal time keep the order of the log, newest first. */
export const itemsOf = ({ items, changed_at }: ItemsState): CollectionItems => {
  const placed = [...items].map(([key, [created_by, created_at, change]]) => {
    const [item_type = '', ...rest] = key.split(':');
    return {
      item: { item_type: item_type as Item['item_type'], item_key: rest.join(':'), created_by, created_at },
      change,
    };
  });
  const newest = placed.toSorted((one, other) => {
    const [a, b] = [one.item.created_at, other.item.created_at];
    return a === b ? other.change - one.change : a < b ? 1 : -1;
  });
  return { items: newest.map(({ item }) => item), changed_at };
};

type Command = {
  readonly workspace_id: string;
  readonly collection_id: string;
  readonly item: Item;
  readonly by: string;
  readonly at: string;
};

export const addCollectionItem =
  ({ workspace_id, collection_id, item, by, at }: Command) =>
  (state: ItemsState): readonly CollectionItemEvent[] => {
    if (findItem(state, item)) return [];
    if (state.items.size >= COLLECTION_ITEMS_MAX) {
      throw new Refusal(
        'limit_reached',
        `A collection can hold at most ${COLLECTION_ITEMS_MAX} items. Remove some.`,
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
