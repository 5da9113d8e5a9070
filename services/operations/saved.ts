import { z } from 'zod';
import { ItemReference, ItemTypeName } from '#contracts/values/items.ts';
import {
  SAVED_ITEMS_MAX,
  SavedItem,
  UnsaveItem,
  UnsavedItem,
} from '#contracts/resources/workspace/saved-item.ts';
import { countSavedItems, findSavedItem, listSavedItems as readSavedItems } from '#projections/saved/read.ts';
import { savedStream } from '#contracts/events/workspace/saved-items.ts';
import {
  saveItem as decideToSave,
  unsaveItem as decideToUnsave,
  saved,
} from '#domain/workspace/saved-items.ts';
import { pageReply, writtenText } from './endpoint/reply.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from './endpoint/examples.ts';
import { pageQuery } from './endpoint/parameters.ts';
import { itemNamedBy, itemReference, placedItem, savedItemParams } from './items.ts';
import { removalEndpoint } from './endpoint/removal-endpoint.ts';
import { workspaceRead, workspaceWrite } from './endpoint/kinds.ts';

export const listSavedItems = endpoint({
  ...workspaceRead,
  path: '/v1/workspaces/{ws}/saved',
  operationId: 'listSavedItems',
  tag: 'Saved items',
  scope: 'collections:read',
  summary: 'List saved items',
  description: 'Items that members of the workspace have saved, newest first.',
  query: z.strictObject({
    ...pageQuery,
    item_type: ItemTypeName.optional().meta({ description: 'Items of this type only.' }),
  }),
  reply: { status: 200, shape: 'paged', data: SavedItem, example: [placedItem] },
  reads: ['saved'],
  handler: async ({ params, query, page }, { db }) =>
    pageReply(await readSavedItems(db, params.ws, query.item_type, page), null),
});

export const saveItem = endpoint({
  ...workspaceWrite,
  path: '/v1/workspaces/{ws}/saved',
  operationId: 'saveItem',
  tag: 'Saved items',
  scope: 'collections:write',
  summary: 'Save an item',
  description: `Saves an item for the whole workspace. Saving it again changes nothing and returns the saved item. The service need not know the object. 409 when the workspace has saved ${SAVED_ITEMS_MAX} items.`,
  body: { schema: ItemReference, example: itemReference },
  reply: { status: 201, shape: 'record', data: SavedItem, example: placedItem },
  reads: [],
  handler: async ({ params, body: item, caller, execute }, dependencies) => {
    const workspace_id = params.ws;
    const at = dependencies.clock.now().toISOString();
    const saved_items = await countSavedItems(dependencies.db, workspace_id);
    const { state, position, isShown } = await execute({
      stream: savedStream(workspace_id, item),
      decider: saved,
      decision: decideToSave({ workspace_id, item, by: caller.memberId, at, saved_items }),
      shownIn: ['saved'],
    });
    const data = await writtenText(
      { isShown, log: dependencies.log },
      () => findSavedItem(dependencies.db, workspace_id, item),
      () => JSON.stringify({ ...item, ...state }),
    );
    return { data, asOf: null, position };
  },
});

const { item_type, item_key } = itemReference;

export const unsaveItem = removalEndpoint({
  path: '/v1/workspaces/{ws}/saved/{itemType}/{itemKey}',
  operationId: 'unsaveItem',
  tag: 'Saved items',
  scope: 'collections:write',
  summary: 'Unsave an item',
  description: 'Takes an empty object as body. `removed` is false when the item was not saved.',
  params: savedItemParams,
  body: UnsaveItem,
  paramsExample: { ws: WORKSPACE_ID, itemType: item_type, itemKey: item_key },
  reply: { data: UnsavedItem, example: { workspace_id: WORKSPACE_ID, item_type, item_key } },
  handler: async ({ params, caller, execute }, dependencies) => {
    const workspace_id = params.ws;
    const item = itemNamedBy(params);
    const at = dependencies.clock.now().toISOString();
    const { events, position } = await execute({
      stream: savedStream(workspace_id, item),
      decider: saved,
      decision: decideToUnsave({ workspace_id, item, by: caller.memberId, at }),
      shownIn: ['saved'],
    });
    return { target: { workspace_id, ...item }, removed: events.length > 0, position };
  },
});
