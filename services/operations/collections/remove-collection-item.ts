import { collectionItemsStream } from '#contracts/events/workspace/collection.ts';
import { RemoveCollectionItem, RemovedCollectionItem } from '#contracts/resources/workspace/collection.ts';
import {
  collectionItems,
  removeCollectionItem as decideToRemove,
} from '#domain/workspace/collection/items.ts';
import { requireCollection } from '#domain/workspace/collection/decider.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { removalEndpoint } from '../endpoint/removal-endpoint.ts';
import { COLLECTION_ID, itemReference } from '../items/examples.ts';
import { collectionItemParams, itemNamedBy } from '../items/parameters.ts';
import { readTree } from './load-collection.ts';

const { item_type, item_key } = itemReference;

export const removeCollectionItem = removalEndpoint({
  path: '/v1/workspaces/{ws}/collections/{collectionId}/items/{itemType}/{itemKey}',
  operationId: 'removeCollectionItem',
  tag: 'Collections',
  scope: 'collections:write',
  summary: 'Remove an item from a collection',
  description: 'Takes an empty object as body. `removed` is false when the item was not there.',
  params: collectionItemParams,
  body: RemoveCollectionItem,
  paramsExample: { ws: WORKSPACE_ID, collectionId: COLLECTION_ID, itemType: item_type, itemKey: item_key },
  reply: {
    data: RemovedCollectionItem,
    example: { collection_id: COLLECTION_ID, workspace_id: WORKSPACE_ID, item_type, item_key },
  },
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
      target: { collection_id, workspace_id, ...item },
      removed: events.length > 0,
      position: position ?? treePosition,
    };
  },
});
