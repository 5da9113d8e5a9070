import { z } from 'zod';
import { collectionItemsStream, collectionTreeStream } from '#contracts/events/workspace/collection.ts';
import {
  type CollectionItems,
  collectionItems,
  addCollectionItem as decideToAdd,
  removeCollectionItem as decideToRemove,
  findItem,
  itemsOf,
} from '#domain/workspace/collection/items.ts';
import {
  type Collection as CollectionState,
  type CollectionTree,
  collectionTree,
  changeCollection as decideToChange,
  createCollection as decideToCreate,
  deleteCollection as decideToDelete,
  requireCollection,
  seesCollection,
} from '#domain/workspace/collection/decider.ts';
import type { WorkspaceCommands } from '#application/commands/workspace-commands.ts';
import { type Item, ItemReference } from '#contracts/values/items.ts';
import { appendFields } from '#contracts/values/json-text.ts';
import { readNewestObservation } from '#projections/brands/read.ts';
import {
  AddedCollectionItem,
  COLLECTIONS_MAX,
  COLLECTION_DEPTH_MAX,
  COLLECTION_ITEMS_MAX,
  COLLECTION_ITEMS_SHOWN_MAX,
  ChangeCollection,
  Collection,
  CreateCollection,
  ListedCollectionItem,
  DeleteCollection,
  DeletedCollection,
  RemoveCollectionItem,
  RemovedCollectionItem,
} from '#contracts/resources/workspace/collection.ts';
import { type ErrorDetail, Refusal } from '#contracts/errors.ts';
import { workspaceStream } from '#contracts/events/workspace/workspace.ts';
import { workspace } from '#domain/workspace/workspace.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import {
  findCollection,
  listCollectionItems as readCollectionItems,
  listCollections as readCollections,
} from '#projections/collections/read.ts';
import { derivedId } from '#domain/ids.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from './endpoint/examples.ts';
import { noQuery, pageQuery } from './endpoint/parameters.ts';
import {
  COLLECTION_ID,
  collection as collectionExample,
  collectionItemParams,
  collectionParams,
  itemNamedBy,
  itemReference,
  placedItem,
  readItemRecords,
} from './items.ts';
import { omitUndefined } from './endpoint/omit-undefined.ts';
import { pageReply, writtenText } from './endpoint/reply.ts';
import { removalEndpoint } from './endpoint/removal-endpoint.ts';
import { workspaceRead, workspaceWrite } from './endpoint/kinds.ts';

/** Reads the log, so that it finds a collection that was just created. `position`: `null` for an empty tree. */
export const readTree = async (
  workspaceCommands: WorkspaceCommands,
  workspaceId: string,
): Promise<{ readonly tree: CollectionTree; readonly position: bigint | null }> => {
  const { state, position } = await workspaceCommands.load(collectionTreeStream(workspaceId), collectionTree);
  return { tree: state, position: position > 0n ? position : null };
};

/** Reads the last snapshot and the events after it. */
export const readItems = async (
  workspaceCommands: Pick<WorkspaceCommands, 'load'>,
  workspaceId: string,
  collectionId: string,
  collection: CollectionState,
): Promise<CollectionItems> => {
  const stream = collectionItemsStream(workspaceId, collectionId);
  const { state } = await workspaceCommands.load(stream, collectionItems(collection));
  return itemsOf(state);
};

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

export const collectionText = (
  id: string,
  collection: CollectionState,
  items: CollectionItems,
  tree: CollectionTree,
  memberId: string,
): string => {
  const { name, description, parent_id, visibility, created_by, editors, created_at } = collection;
  const changed = items.changed_at ?? '';
  return JSON.stringify({
    id,
    name,
    description,
    parent_id: parent_id !== null && seesCollection(tree, parent_id, memberId) ? parent_id : null,
    visibility,
    created_by,
    editors,
    item_count: items.items.length,
    created_at,
    updated_at: changed > collection.updated_at ? changed : collection.updated_at,
    items: items.items.slice(0, COLLECTION_ITEMS_SHOWN_MAX),
  });
};

export const requireMembers = async (
  eventStore: EventStore,
  workspaceId: string,
  editors: readonly string[],
): Promise<void> => {
  if (editors.length === 0) return;
  const { state } = await eventStore.load(workspaceStream(workspaceId), workspace);
  const message = 'The workspace has no such member.';
  const details = editors.flatMap((editor, index): ErrorDetail[] =>
    state.members.has(editor) ? [] : [{ path: `editors.${index}`, message, code: 'unknown_member' }],
  );
  if (details.length > 0) throw new Refusal('invalid_input', 'The input was rejected; see details.', details);
};

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
  body: { schema: ChangeCollection, example: { name: collectionExample.name, parent_id: null } },
  paramsExample: { ws: WORKSPACE_ID, collectionId: COLLECTION_ID },
  reply: { status: 200, shape: 'record', data: Collection, example: collectionExample },
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

export const createCollection = endpoint({
  ...workspaceWrite,
  path: '/v1/workspaces/{ws}/collections',
  operationId: 'createCollection',
  tag: 'Collections',
  scope: 'collections:write',
  summary: 'Create a collection',
  description: `Creates a collection at the top level or inside another one, optionally with a first item. 404 when the caller does not see the parent. 409 when the workspace has ${COLLECTIONS_MAX} collections, or for one more than ${COLLECTION_DEPTH_MAX} levels deep.`,
  body: {
    schema: CreateCollection,
    example: {
      name: collectionExample.name,
      description: collectionExample.description,
      first_item: itemReference,
    },
  },
  reply: { status: 201, shape: 'record', data: Collection, example: collectionExample },
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
  reply: { data: DeletedCollection, example: { collection_id: COLLECTION_ID, workspace_id: WORKSPACE_ID } },
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

export const listCollections = endpoint({
  ...workspaceRead,
  path: '/v1/workspaces/{ws}/collections',
  operationId: 'listCollections',
  tag: 'Collections',
  scope: 'collections:read',
  summary: 'List collections',
  description: `The collections that the caller sees, with their newest ${COLLECTION_ITEMS_SHOWN_MAX} items, most recently changed first. A collection that changes while pages are read moves to the first page. Private collections are shown to their creator and editors only.`,
  query: z.strictObject(pageQuery),
  reply: { status: 200, shape: 'paged', data: Collection, example: [collectionExample] },
  reads: ['collections'],
  handler: async ({ params, caller, page }, { db }) =>
    pageReply(await readCollections(db, params.ws, caller.memberId, page), null),
});

const parseItem = (text: string): Item => JSON.parse(text) as Item;

export const listCollectionItems = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/collections/{collectionId}/items',
  operationId: 'listCollectionItems',
  tag: 'Collections',
  scope: 'collections:read',
  summary: 'List the items of a collection',
  description: `All items of a collection, newest first; a collection itself shows its newest ${COLLECTION_ITEMS_SHOWN_MAX}. With \`include=record\` each has the thing itself, as far as the key may read things of its type (\`ads:read\`, \`brands:read\`, \`creatives:read\`, \`pages:read\`). 404 when the caller does not see the collection.`,
  params: collectionParams,
  query: z.strictObject({
    ...pageQuery,
    include: z.enum(['record']).optional().meta({ description: '`record`: the thing behind each item.' }),
  }),
  body: null,
  paramsExample: { ws: WORKSPACE_ID, collectionId: COLLECTION_ID },
  reply: { status: 200, shape: 'paged', data: ListedCollectionItem, example: [placedItem] },
  errors: ['not_found'],
  corpus: false,
  reads: ['collections'],
  beyondContract: true,
  handler: async ({ params, query, caller, page }, { db }) => {
    const isWithRecords = query.include === 'record';
    const newest = isWithRecords ? await readNewestObservation(db) : null;
    const found = await readCollectionItems(db, params.ws, caller.memberId, params.collectionId, page);
    if (found === null) throw new Refusal('not_found', 'Collection not found.');
    if (!isWithRecords) return pageReply(found, null);
    const recordOf = await readItemRecords(db, found.items.map(parseItem), caller.scopes);
    const items = found.items.map((text) =>
      appendFields(text, { record: recordOf(parseItem(text)) ?? 'null' }),
    );
    return pageReply({ ...found, items }, newest);
  },
});

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
