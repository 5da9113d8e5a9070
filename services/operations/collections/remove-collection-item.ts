import { collectionItemsStream } from '#contracts/events/workspace/collection.ts';
import { RemoveCollectionItem, RemovedCollectionItem } from '#contracts/resources/workspace/collection.ts';
import {
  collectionItems,
  removeCollectionItem as decideToRemove,
} from '#domain/workspace/collection/items.ts';
import { requireCollection } from '#domain/workspace/collection/decider.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { noQuery } from '../endpoint/parameters.ts';
import { COLLECTION_ID, itemReference } from '../items/examples.ts';
import { collectionItemParams, itemNamedBy } from '../items/parameters.ts';
import { readTree } from './load-collection.ts';

const { item_type, item_key } = itemReference;

export const removeCollectionItem = endpoint({
  method: 'DELETE',
  path: '/v1/workspaces/{ws}/collections/{collectionId}/items/{itemType}/{itemKey}',
  operationId: 'removeCollectionItem',
  tag: 'Collections',
  scope: 'collections:write',
  summary: 'Remove an item from a collection',
  description: 'Takes an empty object as body. `removed` is false when the item was not there.',
  params: collectionItemParams,
  query: noQuery,
  body: { schema: RemoveCollectionItem, example: {} },
  paramsExample: { ws: WORKSPACE_ID, collectionId: COLLECTION_ID, itemType: item_type, itemKey: item_key },
  reply: {
    status: 200,
    shape: 'record',
    data: RemovedCollectionItem,
    example: { collection_id: COLLECTION_ID, workspace_id: WORKSPACE_ID, item_type, item_key, removed: true },
  },
  errors: ['not_found', 'conflict'],
  corpus: false,
  reads: [],
  handler: async ({ params, caller, execute }, dependencies) => {
    const { ws: workspace_id, collectionId: collection_id } = params;
    const by = caller.memberId;
    const item = itemNamedBy(params);
    const { tree, position: treePosition } = await readTree(dependencies.workspaceCommands, workspace_id);
    const collection = requireCollection(tree, collection_id, by);
    const { events, position } = await execute({
      stream: collectionItemsStream(workspace_id, collection_id),
      decider: collectionItems(collection),
      decision: decideToRemove({
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
      data: JSON.stringify({ collection_id, workspace_id, ...item, removed: events.length > 0 }),
      asOf: null,
      position: position ?? treePosition,
    };
  },
});
