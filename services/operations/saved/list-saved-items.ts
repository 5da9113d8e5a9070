import { z } from 'zod';
import { ItemTypeName } from '#contracts/values/items.ts';
import { SavedItem } from '#contracts/resources/workspace/saved-item.ts';
import { listSavedItems as readSavedItems } from '#projections/saved/read.ts';
import { pageReply } from '../endpoint/reply.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { pageQuery, workspaceParams } from '../endpoint/parameters.ts';
import { placedItem } from '../items/examples.ts';

export const listSavedItems = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/saved',
  operationId: 'listSavedItems',
  tag: 'Saved items',
  scope: 'collections:read',
  summary: 'List saved items',
  description: 'Items that members of the workspace have saved, newest first.',
  params: workspaceParams,
  query: z.strictObject({
    ...pageQuery,
    item_type: ItemTypeName.optional().meta({ description: 'Of this type only.' }),
  }),
  body: null,
  paramsExample: { ws: WORKSPACE_ID },
  reply: { status: 200, shape: 'paged', data: SavedItem, example: [placedItem] },
  errors: ['not_found'],
  corpus: false,
  reads: ['saved'],
  handler: async ({ params, query, page }, { db }) =>
    pageReply(await readSavedItems(db, params.ws, query.item_type, page), null),
});
