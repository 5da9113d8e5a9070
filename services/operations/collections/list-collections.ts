import { z } from 'zod';
import { Collection, COLLECTION_ITEMS_SHOWN_MAX } from '#contracts/resources/workspace/collection.ts';
import { listCollections as readCollections } from '#projections/collections/read.ts';
import { pageReply } from '../endpoint/reply.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { pageQuery, workspaceParams } from '../endpoint/parameters.ts';
import { collection } from '../items/examples.ts';

export const listCollections = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/collections',
  operationId: 'listCollections',
  tag: 'Collections',
  scope: 'collections:read',
  summary: 'List collections',
  description: `The collections that the caller sees, with their newest ${COLLECTION_ITEMS_SHOWN_MAX} items, most recently changed first. A collection that changes while pages are read moves to the first page. Private collections are shown to their creator and editors only.`,
  params: workspaceParams,
  query: z.strictObject(pageQuery),
  body: null,
  paramsExample: { ws: WORKSPACE_ID },
  reply: { status: 200, shape: 'paged', data: Collection, example: [collection] },
  errors: ['not_found'],
  corpus: false,
  reads: ['collections'],
  handler: async ({ params, caller, page }, { db }) =>
    pageReply(await readCollections(db, params.ws, caller.memberId, page), null),
});
