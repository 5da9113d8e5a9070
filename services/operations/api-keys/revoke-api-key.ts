import { RevokeApiKey, RevokedApiKey } from '#contracts/resources/workspace/api-key.ts';
import { revokeApiKey as decideToRevoke } from '#domain/workspace/api-keys.ts';
import { KEY_ID, WORKSPACE_ID } from '../endpoint/examples.ts';
import { apiKeyParams } from '../endpoint/parameters.ts';
import { removalEndpoint } from '../endpoint/removal-endpoint.ts';
import { runKeyCommand } from './run-key-command.ts';

export const revokeApiKey = removalEndpoint({
  path: '/v1/workspaces/{ws}/api-keys/{keyId}',
  operationId: 'revokeApiKey',
  tag: 'API keys',
  scope: 'apiKeys:write',
  summary: 'Revoke an API key',
  description:
    'The next request with the key is refused with 401. Takes an empty object as body. `removed` is false when the workspace had no such active key. The calling key may revoke itself.',
  params: apiKeyParams,
  body: RevokeApiKey,
  paramsExample: { ws: WORKSPACE_ID, keyId: KEY_ID },
  reply: {
    data: RevokedApiKey,
    example: { key_id: KEY_ID, workspace_id: WORKSPACE_ID },
  },
  handler: async (call, dependencies) => {
    const { ws: workspace_id, keyId: key_id } = call.params;
    const at = dependencies.clock.now().toISOString();
    const decision = decideToRevoke({ workspace_id, key_id, reason: 'revoked', at });
    const { events, position } = await runKeyCommand(call, decision);
    return { target: { key_id, workspace_id }, removed: events.length > 0, position };
  },
});
