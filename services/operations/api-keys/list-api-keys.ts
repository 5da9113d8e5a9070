import { z } from 'zod';
import { ApiKey } from '#contracts/resources/workspace/api-key.ts';
import { listApiKeys as readApiKeys } from '#projections/queries/api-keys.ts';
import { pageReply } from '../endpoint/reply.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { apiKey, WORKSPACE_ID } from '../endpoint/examples.ts';
import { pageQuery, workspaceParams } from '../endpoint/parameters.ts';
import { keyTexts } from './key-text.ts';

export const listApiKeys = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/api-keys',
  operationId: 'listApiKeys',
  tag: 'API keys',
  scope: 'apiKeys:read',
  summary: 'List API keys',
  description:
    "The workspace's keys, newest first, revoked ones included. The keys themselves are never shown.",
  params: workspaceParams,
  query: z.strictObject(pageQuery),
  body: null,
  paramsExample: { ws: WORKSPACE_ID },
  reply: { status: 200, shape: 'paged', data: ApiKey, example: [apiKey] },
  errors: ['not_found'],
  corpus: false,
  reads: ['api-keys', 'workspaces'],
  handler: async ({ params, page }, dependencies) => {
    const { rows, next } = await readApiKeys(dependencies.db, params.ws, page);
    const items = await keyTexts(dependencies, params.ws, rows);
    return pageReply({ items, next }, null);
  },
});
