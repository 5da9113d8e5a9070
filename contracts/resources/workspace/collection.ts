import { z } from 'zod';
import { ItemKey, ItemReference, ItemTypeName } from '#contracts/values/items.ts';
import { Count, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { nameText, proseText } from '#contracts/values/text.ts';

/** Schemas of collections. A collection holds items and can also contain other collections. */

export const COLLECTION_NAME_MAX_LENGTH = 100;
export const COLLECTION_DESCRIPTION_MAX_LENGTH = 1_000;
/** Maximum collections per workspace. */
export const COLLECTIONS_MAX = 1_000;
/** Maximum nesting depth. A top-level collection has depth 1. */
export const COLLECTION_DEPTH_MAX = 8;
/** Maximum items per collection. */
export const COLLECTION_ITEMS_MAX = 1_000;
/** Maximum items shown when a collection is read. */
export const COLLECTION_ITEMS_SHOWN_MAX = 100;
/** Maximum editors per collection, not counting its creator. */
export const COLLECTION_EDITORS_MAX = 100;
const MEMBER_ID_MAX_LENGTH = 64;

const MemberId = z.string().min(1).max(MEMBER_ID_MAX_LENGTH);
const VisibilityName = z.enum(['workspace', 'private']).meta({
  description:
    '`workspace`: seen by whoever sees the collection it stands in, at the top by all. `private`: seen by its creator and editors only.',
});
const name = nameText(COLLECTION_NAME_MAX_LENGTH);
const description = proseText(COLLECTION_DESCRIPTION_MAX_LENGTH).nullable();
const parentId = Uuid.toLowerCase().nullable();
const editors = z.array(MemberId).max(COLLECTION_EDITORS_MAX);

export const CollectionItem = z
  .strictObject({
    item_type: ItemTypeName,
    item_key: ItemKey,
    created_by: z.string().meta({ description: 'Id of the member who added it.' }),
    created_at: Timestamp.meta({ description: 'When it was added.' }),
  })
  .meta({ id: 'CollectionItem' });

export const Collection = z
  .strictObject({
    id: Uuid,
    name: z.string(),
    description: z.string().nullable(),
    parent_id: Uuid.nullable().meta({
      description:
        'The collection it stands in; null at the top, and where that one is not for the caller to see.',
    }),
    visibility: VisibilityName,
    created_by: z.string().meta({ description: 'Id of the member who created it.' }),
    editors: z
      .array(z.string())
      .meta({ description: 'Ids of the members who see and change it whatever its visibility.' }),
    items: z
      .array(CollectionItem)
      .meta({ description: `Newest first, the newest ${COLLECTION_ITEMS_SHOWN_MAX}.` }),
    item_count: Count.meta({ description: 'All items, also those beyond the shown ones.' }),
    created_at: Timestamp,
    updated_at: Timestamp.meta({
      description: 'When it last changed; an item added or removed is a change, one inside another is not.',
    }),
  })
  .meta({ id: 'Collection' });

export const CreateCollection = z
  .strictObject({
    name,
    description: description.default(null),
    parent_id: parentId.default(null).meta({
      description: 'The collection it is to stand in. Whoever deletes that one deletes this one too.',
    }),
    visibility: VisibilityName.default('workspace'),
    editors: editors.default([]).meta({ description: 'Ids of members.' }),
    first_item: ItemReference.optional(),
  })
  .meta({ id: 'CreateCollection' });

export const ChangeCollection = z
  .strictObject({
    name: name.optional(),
    description: description.optional(),
    parent_id: parentId.optional().meta({ description: 'Null moves it to the top.' }),
    visibility: VisibilityName.optional(),
    editors: editors
      .optional()
      .meta({ description: 'Ids of members; takes the place of the list there was.' }),
  })
  .refine((change) => Object.values(change).some((value) => value !== undefined), 'name what is to change')
  .meta({ id: 'ChangeCollection', description: 'What is not named stays.', minProperties: 1 });

export const DeleteCollection = z
  .strictObject({})
  .meta({ id: 'DeleteCollection', description: 'An empty object.' });

export const DeletedCollection = z
  .strictObject({
    collection_id: Uuid,
    workspace_id: z.string(),
    removed: z.boolean().meta({ description: 'False when it had been deleted before.' }),
  })
  .meta({ id: 'DeletedCollection' });

export const AddedCollectionItem = z
  .strictObject({
    collection_id: Uuid,
    workspace_id: z.string(),
    ...CollectionItem.shape,
  })
  .meta({ id: 'AddedCollectionItem' });

export const RemoveCollectionItem = z
  .strictObject({})
  .meta({ id: 'RemoveCollectionItem', description: 'An empty object.' });

export const RemovedCollectionItem = z
  .strictObject({
    collection_id: Uuid,
    workspace_id: z.string(),
    item_type: ItemTypeName,
    item_key: ItemKey,
    removed: z.boolean().meta({ description: 'False when the item was not there.' }),
  })
  .meta({ id: 'RemovedCollectionItem' });
