import { collectionItemsStream } from '#contracts/events/workspace/collection.ts';
import { ItemReference } from '#contracts/values/items.ts';
import { AddedCollectionItem, COLLECTION_ITEMS_MAX } from '#contracts/resources/workspace/collection.ts';
import {
  addCollectionItem as decideToAdd,
  collectionItems,
  findItem,
} from '#domain/workspace/collection/items.ts';
import { requireCollection } from '#domain/workspace/collection/decider.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { noQuery } from '../endpoint/parameters.ts';
import { COLLECTION_ID, itemReference, placedItem } from '../items/examples.ts';
import { collectionParams } from '../items/parameters.ts';
import { readTree } from './load-collection.ts';

export const addCollectionItem = endpoint({
  method: 'POST',
  path: '/v1/workspaces/{ws}/collections/{collectionId}/items',
  operationId: 'addCollectionItem',
  tag: 'Collections',
  scope: 'collections:write',
  summary: 'Add an item to a collection',
  description: `Adding an existing item changes nothing and returns it. The service need not know the object. 409 when the collection has ${COLLECTION_ITEMS_MAX} items.`,
  params: collectionParams,
  query: noQuery,
  body: { schema: ItemReference, example: itemReference },
  paramsExample: { ws: WORKSPACE_ID, collectionId: COLLECTION_ID },
  reply: {
    status: 201,
    shape: 'record',
    data: AddedCollectionItem,
    example: { collection_id: COLLECTION_ID, workspace_id: WORKSPACE_ID, ...placedItem },
  },
  errors: ['not_found', 'conflict'],
  corpus: false,
  reads: [],
  handler: async ({ params, body: item, caller, execute }, dependencies) => {
    const { ws: workspace_id, collectionId: collection_id } = params;
    const by = caller.memberId;
    const { tree, position: treePosition } = await readTree(dependencies.workspaceCommands, workspace_id);
    const collection = requireCollection(tree, collection_id, by);
    const { state, position } = await execute({
      stream: collectionItemsStream(workspace_id, collection_id),
      decider: collectionItems(collection),
      decision: decideToAdd({
        workspace_id,
        collection_id,
        item,
        by,
        at: dependencies.clock.now().toISOString(),
      }),
      shownIn: ['collections'],
      isShared: true,
    });
    return {
      // The state holds the stored item, so a read would add nothing.
      data: JSON.stringify({ collection_id, workspace_id, ...findItem(state, item) }),
      asOf: null,
      position: position ?? treePosition,
    };
  },
});
