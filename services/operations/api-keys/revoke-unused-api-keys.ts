import { RevokedUnusedApiKeys, RevokeUnusedApiKeys } from '#contracts/resources/workspace/api-key.ts';
import { apiKeys, revokeUnusedApiKeys as decideToRevokeUnused } from '#domain/workspace/api-keys.ts';
import { readLastUses } from '#application/access/key-usage.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { KEY_ID, WORKSPACE_ID } from '../endpoint/examples.ts';
import { noQuery, workspaceParams } from '../endpoint/parameters.ts';
import { runKeyCommand } from './run-key-command.ts';

export const revokeUnusedApiKeys = endpoint({
  method: 'POST',
  path: '/v1/workspaces/{ws}/api-keys/revoke-unused',
  operationId: 'revokeUnusedApiKeys',
  tag: 'API keys',
  scope: 'apiKeys:write',
  summary: 'Revoke unused API keys',
  description:
    'Revokes every active key that no request has used for the given number of days; a key that was never used counts from its creation. This request is a use of the calling key.',
  params: workspaceParams,
  query: noQuery,
  body: { schema: RevokeUnusedApiKeys, example: { days: 90 } },
  paramsExample: { ws: WORKSPACE_ID },
  reply: {
    status: 200,
    shape: 'record',
    data: RevokedUnusedApiKeys,
    example: {
      workspace_id: WORKSPACE_ID,
      days: 90,
      revoked: [{ key_id: KEY_ID, name: 'Weekly export', last_used_at: '2026-06-02T07:14:09.251Z' }],
    },
  },
  errors: ['not_found', 'conflict'],
  corpus: false,
  reads: [],
  handler: async (call, dependencies) => {
    const workspace_id = call.params.ws;
    const { days } = call.body;
    await dependencies.keyUsage.flush();
    const lastUses = await readLastUses(dependencies.pool, workspace_id);
    const at = dependencies.clock.now().toISOString();
    const decide = decideToRevokeUnused({ workspace_id, days, lastUses, at });
    // The state after the command lacks the names of revoked keys.
    let { keys } = apiKeys.initial;
    const { events, position } = await runKeyCommand(call, (state) => {
      keys = state.keys;
      return decide(state);
    });
    const revoked = events.map(({ data: { key_id } }) => ({
      key_id,
      name: keys.get(key_id)?.name,
      last_used_at: lastUses.get(key_id) ?? null,
    }));
    return { data: JSON.stringify({ workspace_id, days, revoked }), asOf: null, position };
  },
});
