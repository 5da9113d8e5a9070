import { z } from 'zod';
import { ItemKey, ItemTypeName } from '#contracts/values/items.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import { addCollectionItem } from '#operations/collections.ts';
import { saveItem as saveItemEndpoint } from '#operations/saved.ts';
import { tool } from '../define-tool.ts';
import { written } from './written.ts';

export const saveItem = tool({
  name: 'save_item',
  title: 'Save an item',
  description: 'Saves an ad, brand, creative or page for the workspace, or adds it to a collection.',
  input: z.strictObject({
    item_type: ItemTypeName,
    item_key: ItemKey,
    collection_id: Uuid.optional().meta({ description: 'Adds the item to this collection instead.' }),
  }),
  output: 'structured',
  kind: 'writer',
  scopes: () => ['collections:write'],
  cost: () => 1,
  run: ({ item_type, item_key, collection_id: collectionId }, context) => {
    const body = { item_type, item_key };
    return collectionId === undefined
      ? written(saveItemEndpoint, { body }, context)
      : written(addCollectionItem, { params: { collectionId }, body }, context);
  },
});
