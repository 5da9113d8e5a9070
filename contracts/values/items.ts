import { z } from 'zod';
import { LibraryId, Uuid } from './primitives.ts';

/**
 * Things of the corpus that a workspace puts on boards, saves and writes notes on. They are named, not looked
 * up: a thing that this service has not met yet can be saved, and stays saved when it is gone.
 */
export const ITEM_TYPES = ['ad', 'brand', 'creative', 'creative_record', 'page'] as const;
export type ItemType = (typeof ITEM_TYPES)[number];

/** A thing, by type and by the key it has among its type. Uuids are in lower case. */
export type Item = { readonly item_type: ItemType; readonly item_key: string };

export const ITEM_KEY_MAX_LENGTH = 128;

/** Uuids are one id in whichever case they are written. */
const uuidKey = Uuid.toLowerCase();
const creativeKey = z
  .string()
  .regex(/^[A-Za-z0-9_-]{10,128}$/, 'a key of 10 to 128 letters, digits, hyphens and underscores');

/** How a thing of each type is named. */
export const ITEM_KEYS = {
  ad: LibraryId,
  brand: uuidKey,
  creative: uuidKey,
  creative_record: creativeKey,
  page: uuidKey,
} as const satisfies Readonly<Record<ItemType, z.ZodType<string>>>;

export const SUBJECT_TYPES = [...ITEM_TYPES, 'collection'] as const;
export type SubjectType = (typeof SUBJECT_TYPES)[number];

/** What a note is about: a thing, or a collection. */
export type Subject = { readonly subject_type: SubjectType; readonly subject_key: string };

export const SUBJECT_KEYS = { ...ITEM_KEYS, collection: uuidKey } as const satisfies Readonly<
  Record<SubjectType, z.ZodType<string>>
>;

const KEY_DESCRIPTION =
  'Of an ad its library id; of a brand, creative, page or collection its uuid; of a creative record its key.';

export const ItemTypeName = z.enum(ITEM_TYPES);
export const SubjectTypeName = z.enum(SUBJECT_TYPES);
export const ItemKey = z.string().min(1).max(ITEM_KEY_MAX_LENGTH).meta({ description: KEY_DESCRIPTION });

const itemOf = <Type extends ItemType>(type: Type) =>
  z.strictObject({ item_type: z.literal(type), item_key: ITEM_KEYS[type] });

/** A thing as requests name it: the form of its key follows from its type. */
export const ItemReference = z
  .discriminatedUnion('item_type', [
    itemOf('ad'),
    itemOf('brand'),
    itemOf('creative'),
    itemOf('creative_record'),
    itemOf('page'),
  ])
  .meta({ id: 'ItemReference', description: `A thing by type and key. ${KEY_DESCRIPTION}` });
