import { z } from 'zod';
import { AdSummary } from '../corpus/ads/ad.ts';
import { Creative } from '../corpus/ads/creative.ts';
import { CreativeRecordSummary } from '../corpus/ads/creative-record.ts';
import { BrandSummary } from '../corpus/brand.ts';
import { LandingPage } from '../corpus/landing-page.ts';
import { ItemKey, ItemReference, ItemTypeName } from '#contracts/values/items.ts';
import { Count, Timestamp, Uuid, WorkspaceId } from '#contracts/values/primitives.ts';
import { nameText, proseText } from '#contracts/values/text.ts';

/** A collection can also contain other collections. */

export const COLLECTION_NAME_MAX_LENGTH = 100;
export const COLLECTION_DESCRIPTION_MAX_LENGTH = 1_000;
export const COLLECTIONS_MAX = 1_000;
/** A top-level collection has depth 1. */
export const COLLECTION_DEPTH_MAX = 8;
export const COLLECTION_ITEMS_MAX = 1_000;
export const COLLECTION_ITEMS_SHOWN_MAX = 100;
/** Does not count the creator. */
export const COLLECTION_EDITORS_MAX = 100;
const MEMBER_ID_MAX_LENGTH = 64;

const MemberId = z.string().min(1).max(MEMBER_ID_MAX_LENGTH);
const VisibilityName = z.enum(['workspace', 'private']).meta({
  id: 'CollectionVisibility',
  description:
    '`workspace`: visible to all who see its parent; at the top level, to all members. `private`: visible to its creator and editors only.',
});
const CollectionId = Uuid.meta({ description: 'Stable id of the collection, `{collectionId}` in paths.' });
const NAME = { description: 'Title of the board, one line.' };
const DESCRIPTION = { description: 'What the board is for; null: not described.' };
const name = nameText(COLLECTION_NAME_MAX_LENGTH).meta(NAME);
const description = proseText(COLLECTION_DESCRIPTION_MAX_LENGTH).nullable().meta(DESCRIPTION);
const parentId = Uuid.toLowerCase().nullable();
const editors = z.array(MemberId).max(COLLECTION_EDITORS_MAX);

export const CollectionItem = z
  .strictObject({
    item_type: ItemTypeName,
    item_key: ItemKey,
    created_by: z.string().meta({ description: 'Id of the member who added it.' }),
    created_at: Timestamp.meta({ description: 'When it was added.' }),
  })
  .meta({ id: 'CollectionItem', description: 'An item of a collection.' });

export const ListedCollectionItem = CollectionItem.extend({
  record: z
    .union([AdSummary, BrandSummary, Creative, CreativeRecordSummary, LandingPage])
    .nullable()
    .optional()
    .meta({
      description:
        'With `include=record` only: the thing itself. Null when this service does not have it, or when the key may not read things of its type.',
    }),
}).meta({
  id: 'ListedCollectionItem',
  description: 'An item of a collection, with the thing behind it when asked for.',
});

export const Collection = z
  .strictObject({
    id: CollectionId,
    name: z.string().meta(NAME),
    description: z.string().nullable().meta(DESCRIPTION),
    parent_id: Uuid.nullable().meta({
      description: 'The parent collection; null at the top level, or when the caller may not see the parent.',
    }),
    visibility: VisibilityName,
    created_by: z.string().meta({ description: 'Id of the member who created it.' }),
    editors: z
      .array(z.string())
      .meta({ description: 'Ids of members who may see and change it regardless of its visibility.' }),
    items: z
      .array(CollectionItem)
      .meta({ description: `Its items, newest first, at most ${COLLECTION_ITEMS_SHOWN_MAX}.` }),
    item_count: Count.meta({ description: 'Number of all items, including those not shown.' }),
    created_at: Timestamp.meta({ description: 'When it was created.' }),
    updated_at: Timestamp.meta({
      description:
        'When it last changed. Adding or removing an item counts; a change of a collection inside it does not.',
    }),
  })
  .meta({ id: 'Collection', description: 'A board of items; it can contain other collections.' });

export const CreateCollection = z
  .strictObject({
    name,
    description: description.default(null),
    parent_id: parentId.default(null).meta({
      description: 'The parent collection, null for the top level. Deleting the parent deletes this one too.',
    }),
    visibility: VisibilityName.default('workspace'),
    editors: editors.default([]).meta({ description: 'Ids of members.' }),
    first_item: ItemReference.optional(),
  })
  .meta({
    id: 'CreateCollection',
    description: 'A new board, optionally inside another one and with an item.',
  });

export const ChangeCollection = z
  .strictObject({
    name: name.optional(),
    description: description.optional(),
    parent_id: parentId.optional().meta({ description: 'Null moves it to the top.' }),
    visibility: VisibilityName.optional(),
    editors: editors.optional().meta({ description: 'Ids of members; replaces the existing list.' }),
  })
  .refine(
    (change) => Object.values(change).some((value) => value !== undefined),
    'name at least one property to change',
  )
  .meta({ id: 'ChangeCollection', description: 'What is not named stays.', minProperties: 1 });

export const DeleteCollection = z
  .strictObject({})
  .meta({ id: 'DeleteCollection', description: 'An empty object.' });

export const DeletedCollection = z
  .strictObject({
    collection_id: CollectionId,
    workspace_id: WorkspaceId,
    removed: z.boolean().meta({ description: 'False when it was already deleted.' }),
  })
  .meta({ id: 'DeletedCollection', description: 'The result of deleting a collection and all inside it.' });

export const AddedCollectionItem = z
  .strictObject({ collection_id: CollectionId, workspace_id: WorkspaceId, ...CollectionItem.shape })
  .meta({ id: 'AddedCollectionItem', description: 'An item of a collection, added now or before.' });

export const RemoveCollectionItem = z
  .strictObject({})
  .meta({ id: 'RemoveCollectionItem', description: 'An empty object.' });

export const RemovedCollectionItem = z
  .strictObject({
    collection_id: CollectionId,
    workspace_id: WorkspaceId,
    item_type: ItemTypeName,
    item_key: ItemKey,
    removed: z.boolean().meta({ description: 'False when the item was not there.' }),
  })
  .meta({ id: 'RemovedCollectionItem', description: 'The result of removing an item from a collection.' });
