import { z } from 'zod';
import { ITEM_KEYS, type Item, ItemKey, type ItemType, ItemTypeName } from '#contracts/values/items.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import { AD_ID } from './endpoint/examples.ts';
import { workspaceParams } from './endpoint/parameters.ts';

const MEMBER_ID = 'mem_2h8k4n6p0r5s7v9w';
export const COLLECTION_ID = '3e9b7d15-6a2c-5f48-9b0d-8c1a4e7f2d63';
export const NOTE_ID = 'd27c5a81-4f3e-5b96-a8d0-1e6b9c3f7a42';

export const itemReference = { item_type: 'ad' as const, item_key: AD_ID };

export const placedItem = {
  ...itemReference,
  created_by: MEMBER_ID,
  created_at: '2026-11-20T09:30:00.000Z',
};

export const collection = {
  id: COLLECTION_ID,
  name: 'Winter boots',
  description: 'Launches to watch before the sale.',
  parent_id: null,
  visibility: 'workspace' as const,
  created_by: MEMBER_ID,
  editors: [],
  items: [placedItem],
  item_count: 1,
  created_at: '2026-11-20T09:30:00.000Z',
  updated_at: '2026-11-20T09:30:00.000Z',
};

export const note = {
  id: NOTE_ID,
  subject_type: 'ad',
  subject_key: AD_ID,
  body: 'The first of theirs with a price in the picture.',
  created_by: MEMBER_ID,
  created_at: '2026-11-20T09:30:00.000Z',
  updated_at: '2026-11-20T10:05:00.000Z',
};

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
