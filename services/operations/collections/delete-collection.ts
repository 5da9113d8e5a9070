import { collectionTreeStream } from '#contracts/events/workspace/collection.ts';
import { DeleteCollection, DeletedCollection } from '#contracts/resources/workspace/collection.ts';
import { collectionTree, deleteCollection as decideToDelete } from '#domain/workspace/collection/decider.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { removalEndpoint } from '../endpoint/removal-endpoint.ts';
import { COLLECTION_ID } from '../items/examples.ts';
import { collectionParams } from '../items/parameters.ts';

export const deleteCollection = removalEndpoint({
  path: '/v1/workspaces/{ws}/collections/{collectionId}',
  operationId: 'deleteCollection',
  tag: 'Collections',
  scope: 'collections:write',
  summary: 'Delete a collection and every collection inside it',
  description:
    'Takes an empty object as body. Deletes everything inside too, including private collections of other members. `removed` is false when it was already deleted; 404 when the caller never saw such a collection, or so many were deleted since that this one is forgotten (500 or more).',
  params: collectionParams,
  body: DeleteCollection,
  paramsExample: { ws: WORKSPACE_ID, collectionId: COLLECTION_ID },
  reply: {
    data: DeletedCollection,
    example: { collection_id: COLLECTION_ID, workspace_id: WORKSPACE_ID },
  },
  handler: async ({ params, caller, execute }, dependencies) => {
    const { ws: workspace_id, collectionId: collection_id } = params;
    const by = { member_id: caller.memberId, role: caller.role };
    const { events, position } = await execute({
      stream: collectionTreeStream(workspace_id),
      decider: collectionTree,
      decision: decideToDelete({
        workspace_id,
        collection_id,
        by,
        at: dependencies.clock.now().toISOString(),
      }),
      shownIn: ['collections'],
      isShared: true,
    });
    return { target: { collection_id, workspace_id }, removed: events.length > 0, position };
  },
});
