import { ACTIVE_KEYS_MAX, CreateApiKey, CreatedApiKey } from '#contracts/resources/workspace/api-key.ts';
import { SCOPES } from '#contracts/values/access/scopes.ts';
import { issueApiKey } from '#domain/workspace/api-keys.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { createdApiKey, WORKSPACE_ID } from '../endpoint/examples.ts';
import { noQuery, workspaceParams } from '../endpoint/parameters.ts';
import { issueKey } from './run-key-command.ts';

export const createApiKey = endpoint({
  method: 'POST',
  path: '/v1/workspaces/{ws}/api-keys',
  operationId: 'createApiKey',
  tag: 'API keys',
  scope: 'apiKeys:write',
  summary: 'Create an API key',
  description: `Only this reply shows the key itself. It belongs to the member of the calling key; scopes beyond the caller's are refused with 403. 409 when the workspace has ${ACTIVE_KEYS_MAX} active keys.`,
  params: workspaceParams,
  query: noQuery,
  body: {
    schema: CreateApiKey,
    example: { name: createdApiKey.name, scopes: ['brands:read', 'me:read'] },
  },
  paramsExample: { ws: WORKSPACE_ID },
  reply: { status: 201, shape: 'record', data: CreatedApiKey, example: createdApiKey },
  errors: ['not_found', 'conflict'],
  corpus: false,
  reads: [],
  handler: (call, dependencies) => {
    const { name } = call.body;
    const scopes = SCOPES.filter((scope) => call.body.scopes.includes(scope));
    return issueKey(call, dependencies, null, (input) => issueApiKey({ ...input, name, scopes }));
  },
});
