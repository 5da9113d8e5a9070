import { z } from 'zod';
import { ITEM_KEYS, type Item, ItemKey, type ItemType, ItemTypeName } from '#contracts/values/items.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import { workspaceParams } from '../endpoint/parameters.ts';

/** Path parameters of collections, their items and saved items. */

export const collectionParams = z.strictObject({
  ...workspaceParams.shape,
  collectionId: Uuid.toLowerCase().meta({ description: 'Id of a collection.' }),
});

type NamedItem = { readonly itemType: ItemType; readonly itemKey: string };

const itemShape = { itemType: ItemTypeName.meta({ description: 'Type of the item.' }), itemKey: ItemKey };

/** The format depends on the item type. */
const checkItemKey = ({ itemType, itemKey }: NamedItem, faults: z.RefinementCtx): void => {
  for (const { message } of ITEM_KEYS[itemType].safeParse(itemKey).error?.issues ?? []) {
    faults.addIssue({ code: 'custom', path: ['itemKey'], message });
  }
};

export const collectionItemParams = z
  .strictObject({ ...collectionParams.shape, ...itemShape })
  .superRefine(checkItemKey);
export const savedItemParams = z
  .strictObject({ ...workspaceParams.shape, ...itemShape })
  .superRefine(checkItemKey);

export const itemNamedBy = ({ itemType, itemKey }: NamedItem): Item => ({
  item_type: itemType,
  item_key: ITEM_KEYS[itemType].parse(itemKey),
});
