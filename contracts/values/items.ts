import { z } from 'zod';
import { described, LibraryId, Uuid } from './primitives.ts';

/** Keys are not checked for existence: an unknown object can be saved, and stays after it disappears. */
export const ITEM_TYPES = ['ad', 'brand', 'creative', 'creative_record', 'page'] as const;
export type ItemType = (typeof ITEM_TYPES)[number];

export type Item = { readonly item_type: ItemType; readonly item_key: string };

export const ITEM_KEY_MAX_LENGTH = 128;

/** Upper and lower case name the same object. */
const uuidKey = Uuid.toLowerCase();
const creativeKey = z
  .string()
  .regex(/^[A-Za-z0-9_-]{10,128}$/, 'a key of 10 to 128 letters, digits, hyphens and underscores');

export const ITEM_KEYS = {
  ad: LibraryId,
  brand: uuidKey,
  creative: uuidKey,
  creative_record: creativeKey,
  page: uuidKey,
} as const satisfies Readonly<Record<ItemType, z.ZodType<string>>>;

export const SUBJECT_TYPES = [...ITEM_TYPES, 'collection'] as const;
export type SubjectType = (typeof SUBJECT_TYPES)[number];

export type Subject = { readonly subject_type: SubjectType; readonly subject_key: string };

export const SUBJECT_KEYS = { ...ITEM_KEYS, collection: uuidKey } as const satisfies Readonly<
  Record<SubjectType, z.ZodType<string>>
>;

const KEY_DESCRIPTION =
  'Key of the item: of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key.';

export const ItemTypeName = z
  .enum(ITEM_TYPES)
  .meta({ id: 'ItemType', description: 'Decides the format of `item_key`.' });
export const SubjectTypeName = z
  .enum(SUBJECT_TYPES)
  .meta({ id: 'SubjectType', description: 'Decides the format of `subject_key`.' });
export const ItemKey = z.string().min(1).max(ITEM_KEY_MAX_LENGTH).meta({ description: KEY_DESCRIPTION });

const itemOf = <Type extends ItemType>(type: Type) =>
  z.strictObject({
    item_type: z.literal(type).meta(described(ItemTypeName)),
    item_key: ITEM_KEYS[type].meta(described(ItemKey)),
  });

export const ItemReference = z
  .discriminatedUnion('item_type', [
    itemOf('ad'),
    itemOf('brand'),
    itemOf('creative'),
    itemOf('creative_record'),
    itemOf('page'),
  ])
  .meta({ id: 'ItemReference', description: `An item by type and key. ${KEY_DESCRIPTION}` });
