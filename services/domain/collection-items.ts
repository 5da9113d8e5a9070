import { Refusal } from '#contracts/errors.ts';
import type { CollectionItemFact } from '#contracts/events/collection.ts';
import type { Item } from '#contracts/items.ts';
import { COLLECTION_ITEMS_MAX } from '#contracts/resources/collection.ts';
import type { Collection } from './collection.ts';

/** Stream `collection-<workspaceId>+<collectionId>`: the items of one collection. */
export type PlacedItem = Item & { readonly created_by: string; readonly created_at: string };
export type CollectionItems = {
  /** By type and key, in the order in which they came. */
  readonly items: ReadonlyMap<string, PlacedItem>;
  /** When one was last added or removed; `null`: none since the collection was created. */
  readonly changed_at: string | null;
};

const keyOf = ({ item_type, item_key }: Item): string => `${item_type}:${item_key}`;

const evolve = (state: CollectionItems, fact: CollectionItemFact): CollectionItems => {
  const items = new Map(state.items);
  items.delete(keyOf(fact.data));
  switch (fact.type) {
    case 'CollectionItemAdded': {
      const { item_type, item_key, added_by, added_at } = fact.data;
      items.set(keyOf(fact.data), { item_type, item_key, created_by: added_by, created_at: added_at });
      return { items, changed_at: added_at };
    }
    case 'CollectionItemRemoved':
      return { items, changed_at: fact.data.removed_at };
  }
};

/** The items of a collection begin with the one it was created with, which the tree's fact holds. */
export const collectionItems = ({
  first_item,
  created_by,
  created_at,
}: Pick<Collection, 'first_item' | 'created_by' | 'created_at'>) => {
  const first = first_item && { ...first_item, created_by, created_at };
  const initial: CollectionItems = {
    items: new Map(first ? [[keyOf(first), first]] : []),
    changed_at: null,
  };
  return { initial, evolve };
};

/** Newest first. */
export const newestItems = (state: CollectionItems, max: number): readonly PlacedItem[] =>
  [...state.items.values()]
    .toReversed()
    .toSorted((one, other) =>
      one.created_at === other.created_at ? 0 : one.created_at < other.created_at ? 1 : -1,
    )
    .slice(0, max);

export const findItem = (state: CollectionItems, item: Item): PlacedItem | undefined =>
  state.items.get(keyOf(item));

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
  (state: CollectionItems): readonly CollectionItemFact[] => {
    if (findItem(state, item)) return [];
    if (state.items.size >= COLLECTION_ITEMS_MAX) {
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
  (state: CollectionItems): readonly CollectionItemFact[] => {
    if (!findItem(state, item)) return [];
    const removed = { workspace_id, collection_id, ...item, removed_by: by, removed_at: at };
    return [{ type: 'CollectionItemRemoved', data: removed }];
  };
