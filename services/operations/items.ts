import { z } from 'zod';
import {
  ITEM_KEYS,
  ITEM_TYPES,
  type Item,
  ItemKey,
  type ItemType,
  ItemTypeName,
} from '#contracts/values/items.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import type { Scope } from '#contracts/values/access.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import { readAdSummaries } from '#projections/ads/read.ts';
import { readBrandSummaries } from '#projections/brands/read.ts';
import { findCreatives } from '#projections/creatives/read.ts';
import { readRecordSummaries } from '#projections/creatives/read-records.ts';
import { findPages } from '#projections/pages/read.ts';
import { AD_ID } from './endpoint/examples.ts';
import { workspaceParams } from './endpoint/parameters.ts';

const MEMBER_ID = 'mem_2h8k4n6p0r5s7v9w';
export const COLLECTION_ID = '3e9b7d15-6a2c-5f48-9b0d-8c1a4e7f2d63';
export const NOTE_ID = 'd27c5a81-4f3e-5b96-a8d0-1e6b9c3f7a42';

export const itemReference = { item_type: 'ad' as const, item_key: AD_ID };

export const placedItem = { ...itemReference, created_by: MEMBER_ID, created_at: '2026-11-20T09:30:00.000Z' };

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

type Texts = ReadonlyMap<string, string>;

/** JSON texts by key, as the lists of the API show them; unknown keys are absent. */
const READERS: Readonly<Record<ItemType, (db: ReadDatabase, keys: readonly string[]) => Promise<Texts>>> = {
  ad: readAdSummaries,
  brand: async (db, keys) => {
    const found = await readBrandSummaries(db, keys);
    return new Map(Array.from(found, ([id, { summary }]) => [id, summary]));
  },
  creative: async (db, keys) => {
    const found = await findCreatives(db, keys);
    return new Map(found.map(({ id, json }) => [id, json]));
  },
  creative_record: readRecordSummaries,
  page: async (db, keys) => {
    const found = await findPages(db, keys);
    return new Map(found.map(({ id, json }) => [id, json]));
  },
};

/** Scope that reads things of the type. */
const SCOPE_OF_TYPE: Readonly<Record<ItemType, Scope>> = {
  ad: 'ads:read',
  brand: 'brands:read',
  creative: 'creatives:read',
  creative_record: 'creatives:read',
  page: 'pages:read',
};

/** Finds the record of an item; `null` when the service does not have it, or the scopes do not allow its type. */
export const readItemRecords = async (
  db: ReadDatabase,
  items: readonly Item[],
  scopes: ReadonlySet<Scope>,
): Promise<(item: Item) => string | null> => {
  const read = async (type: ItemType): Promise<[ItemType, Texts]> => {
    const keys = items.flatMap(({ item_type, item_key }) => (item_type === type ? [item_key] : []));
    return [type, keys.length === 0 ? new Map<string, string>() : await READERS[type](db, keys)];
  };
  const readable = ITEM_TYPES.filter((type) => scopes.has(SCOPE_OF_TYPE[type]));
  const found = new Map(await Promise.all(readable.map(read)));
  return ({ item_type, item_key }) => found.get(item_type)?.get(item_key) ?? null;
};
