import { z } from 'zod';
import { ItemKey, ItemTypeName } from '#contracts/values/items.ts';
import { Timestamp, WorkspaceId } from '#contracts/values/primitives.ts';

/** Checked against the read model, so concurrent saves may exceed it slightly but never wait for each other. */
export const SAVED_ITEMS_MAX = 10_000;

export const SavedItem = z
  .strictObject({
    item_type: ItemTypeName,
    item_key: ItemKey,
    created_by: z.string().meta({ description: 'Id of the member who saved it.' }),
    created_at: Timestamp.meta({ description: 'When it was saved.' }),
  })
  .meta({ id: 'SavedItem', description: 'An item that the workspace saved for later.' });

export const UnsaveItem = z.strictObject({}).meta({ id: 'UnsaveItem', description: 'An empty object.' });

export const UnsavedItem = z
  .strictObject({
    workspace_id: WorkspaceId,
    item_type: ItemTypeName,
    item_key: ItemKey,
    removed: z.boolean().meta({ description: 'False when it was not saved.' }),
  })
  .meta({ id: 'UnsavedItem', description: 'The result of removing a saved item.' });
