import { COLLECTION_ITEMS_SHOWN_MAX } from '#contracts/resources/workspace/collection.ts';
import type { CollectionItems } from '#domain/workspace/collection/items.ts';
import {
  type Collection,
  type CollectionTree,
  seesCollection,
} from '#domain/workspace/collection/decider.ts';

export const collectionText = (
  id: string,
  collection: Collection,
  items: CollectionItems,
  tree: CollectionTree,
  memberId: string,
): string => {
  const { name, description, parent_id, visibility, created_by, editors, created_at } = collection;
  const changed = items.changed_at ?? '';
  return JSON.stringify({
    id,
    name,
    description,
    parent_id: parent_id !== null && seesCollection(tree, parent_id, memberId) ? parent_id : null,
    visibility,
    created_by,
    editors,
    item_count: items.items.length,
    created_at,
    updated_at: changed > collection.updated_at ? changed : collection.updated_at,
    items: items.items.slice(0, COLLECTION_ITEMS_SHOWN_MAX),
  });
};
