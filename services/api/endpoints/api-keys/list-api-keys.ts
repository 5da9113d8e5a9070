import { z } from 'zod';
import { ApiKey } from '#contracts/resources/api-key.ts';
import { listApiKeys as readApiKeys } from '#projections/across/listed-api-keys.ts';
import { pageAnswer } from '../../answers.ts';
import { endpoint } from '../../endpoint.ts';
import { apiKey, WORKSPACE_ID } from '../../examples.ts';
import { pageQuery, workspaceParams } from '../../parameters.ts';

export const listApiKeys = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/api-keys',
  operationId: 'listApiKeys',
  tag: 'API keys',
  scope: 'apiKeys:read',
  summary: 'List API keys',
  description: "The workspace's keys, newest first, revoked ones included; never a key itself.",
  params: workspaceParams,
  query: z.strictObject(pageQuery),
  body: null,
  paramsExample: { ws: WORKSPACE_ID },
  reply: { status: 200, shape: 'paged', data: ApiKey, example: [apiKey] },
  errors: ['not_found'],
  corpus: false,
  reads: ['api-keys', 'workspaces'],
  handler: async ({ params, page }, { db }) => pageAnswer(await readApiKeys(db, params.ws, page), null),
});
