import { collectionTreeStream } from '#contracts/events/workspace/collection.ts';
import {
  ChangeCollection,
  Collection,
  COLLECTION_DEPTH_MAX,
} from '#contracts/resources/workspace/collection.ts';
import {
  changeCollection as decideToChange,
  collectionTree,
  requireCollection,
} from '#domain/workspace/collection/decider.ts';
import { findCollection } from '#projections/collections/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import { noQuery } from '../endpoint/parameters.ts';
import { writtenText } from '../endpoint/written-text.ts';
import { collection, COLLECTION_ID } from '../items/examples.ts';
import { collectionParams } from '../items/parameters.ts';
import { collectionText } from './collection-reply.ts';
import { readItems } from './load-collection.ts';
import { requireMembers } from './require-members.ts';

export const changeCollection = endpoint({
  method: 'PATCH',
  path: '/v1/workspaces/{ws}/collections/{collectionId}',
  operationId: 'changeCollection',
  tag: 'Collections',
  scope: 'collections:write',
  summary: 'Change a collection',
  description: `Changes name, description, parent, \`visibility\` or \`editors\`; absent properties stay unchanged. Every member who sees a collection may change it. Only its creator, and admins and owners who see it, may change \`visibility\` and \`editors\` (403 otherwise). 404 when the caller does not see the collection or the new parent. 409 when it would be inside itself, nested more than ${COLLECTION_DEPTH_MAX} levels deep, or hidden from the caller.`,
  params: collectionParams,
  query: noQuery,
  body: { schema: ChangeCollection, example: { name: collection.name, parent_id: null } },
  paramsExample: { ws: WORKSPACE_ID, collectionId: COLLECTION_ID },
  reply: { status: 200, shape: 'record', data: Collection, example: collection },
  errors: ['not_found', 'conflict'],
  corpus: false,
  reads: [],
  handler: async ({ params, body, caller, execute }, dependencies) => {
    const collection_id = params.collectionId;
    const by = { member_id: caller.memberId, role: caller.role };
    const about = { workspace_id: params.ws, collection_id, by, at: dependencies.clock.now().toISOString() };
    await requireMembers(dependencies.eventStore, params.ws, body.editors ?? []);
    const { state, events, position, isShown } = await execute({
      stream: collectionTreeStream(params.ws),
      decider: collectionTree,
      decision: decideToChange({ ...about, change: omitUndefined(body) }),
      shownIn: ['collections'],
      isShared: true,
    });
    const changed = requireCollection(state, collection_id, caller.memberId);
    const data = await writtenText(
      // Without events the wait was for an old position, which later item events may follow.
      { isShown: isShown && events.length > 0, log: dependencies.log },
      () => findCollection(dependencies.db, params.ws, caller.memberId, collection_id),
      async () => {
        const items = await readItems(dependencies.workspaceCommands, params.ws, collection_id, changed);
        return collectionText(collection_id, changed, items, state, caller.memberId);
      },
    );
    return { data, asOf: null, position };
  },
});
