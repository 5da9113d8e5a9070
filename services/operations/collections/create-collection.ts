import { collectionTreeStream } from '#contracts/events/workspace/collection.ts';
import {
  Collection,
  COLLECTION_DEPTH_MAX,
  COLLECTIONS_MAX,
  CreateCollection,
} from '#contracts/resources/workspace/collection.ts';
import { collectionItems, itemsOf } from '#domain/workspace/collection/items.ts';
import { collectionTree, createCollection as decideToCreate } from '#domain/workspace/collection/decider.ts';
import { derivedId } from '#domain/ids.ts';
import { findCollection } from '#projections/collections/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { noQuery, workspaceParams } from '../endpoint/parameters.ts';
import { writtenText } from '../endpoint/written-text.ts';
import { collection, itemReference } from '../items/examples.ts';
import { collectionText } from './collection-reply.ts';
import { requireMembers } from './require-members.ts';

export const createCollection = endpoint({
  method: 'POST',
  path: '/v1/workspaces/{ws}/collections',
  operationId: 'createCollection',
  tag: 'Collections',
  scope: 'collections:write',
  summary: 'Create a collection',
  description: `Creates a collection at the top level or inside another one, optionally with a first item. 404 when the caller does not see the parent. 409 when the workspace has ${COLLECTIONS_MAX} collections, or for one more than ${COLLECTION_DEPTH_MAX} levels deep.`,
  params: workspaceParams,
  query: noQuery,
  body: {
    schema: CreateCollection,
    example: {
      name: collection.name,
      description: collection.description,
      first_item: itemReference,
    },
  },
  paramsExample: { ws: WORKSPACE_ID },
  reply: {
    status: 201,
    shape: 'record',
    data: Collection,
    example: collection,
  },
  errors: ['not_found', 'conflict'],
  corpus: false,
  reads: [],
  handler: async ({ params, body, caller, commandId, execute }, dependencies) => {
    const { first_item = null, ...described } = body;
    const by = { member_id: caller.memberId, role: caller.role };
    const at = dependencies.clock.now().toISOString();
    const collection_id = derivedId('collection', commandId);
    const about = { workspace_id: params.ws, collection_id, by, at };
    await requireMembers(dependencies.eventStore, params.ws, body.editors);
    const { state, position, isShown } = await execute({
      stream: collectionTreeStream(params.ws),
      decider: collectionTree,
      decision: decideToCreate({ ...about, ...described, first_item }),
      shownIn: ['collections'],
      isShared: true,
    });
    const created = state.collections.get(collection_id);
    if (!created) throw new Error('created collection is missing from the tree');
    const data = await writtenText(
      { isShown, log: dependencies.log },
      () => findCollection(dependencies.db, params.ws, caller.memberId, collection_id),
      () =>
        collectionText(
          collection_id,
          created,
          itemsOf(collectionItems(created).initial),
          state,
          caller.memberId,
        ),
    );
    return { data, asOf: null, position };
  },
});
