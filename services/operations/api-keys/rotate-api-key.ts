import { CreatedApiKey, RotateApiKey } from '#contracts/resources/workspace/api-key.ts';
import { rotateApiKey as decideToRotate } from '#domain/workspace/api-keys.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { createdApiKey, KEY_ID, WORKSPACE_ID } from '../endpoint/examples.ts';
import { apiKeyParams, noQuery } from '../endpoint/parameters.ts';
import { issueKey } from './run-key-command.ts';

export const rotateApiKey = endpoint({
  method: 'POST',
  path: '/v1/workspaces/{ws}/api-keys/{keyId}/rotate',
  operationId: 'rotateApiKey',
  tag: 'API keys',
  scope: 'apiKeys:write',
  summary: 'Rotate an API key',
  description:
    "Revokes a key and issues a replacement with the same name and scopes, which only this reply shows. Takes an empty object as body. The replacement belongs to the member of the calling key; a key with scopes beyond the caller's is refused with 403, a revoked one with 409.",
  params: apiKeyParams,
  query: noQuery,
  body: { schema: RotateApiKey, example: {} },
  paramsExample: { ws: WORKSPACE_ID, keyId: KEY_ID },
  reply: {
    status: 201,
    shape: 'record',
    data: CreatedApiKey,
    example: { ...createdApiKey, key_id: 'key_0v6w2r9y5z8m3x1q', replaces: KEY_ID },
  },
  errors: ['not_found', 'conflict'],
  corpus: false,
  reads: [],
  handler: (call, dependencies) =>
    issueKey(call, dependencies, call.params.keyId, (input) =>
      decideToRotate({ ...input, rotated_key_id: call.params.keyId }),
    ),
});
