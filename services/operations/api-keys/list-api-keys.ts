import { replaceObjectField } from '#contracts/values/json-text.ts';
import { z } from 'zod';
import { ApiKey } from '#contracts/resources/workspace/api-key.ts';
import { type ApiKeyPage, listApiKeys as readApiKeys } from '#projections/queries/api-keys.ts';
import { pageReply } from '../endpoint/reply.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { apiKey, WORKSPACE_ID } from '../endpoint/examples.ts';
import { memberNameOf } from '../dependencies/member-names.ts';
import { pageQuery, workspaceParams } from '../endpoint/parameters.ts';
import type { OperationDependencies } from '../dependencies/dependencies.ts';

/** Returns the items of a page with the names decrypted from the vault. Each name is decrypted once. */
const withNames = async (
  dependencies: OperationDependencies,
  workspaceId: string,
  { items, sealedNames }: ApiKeyPage,
): Promise<readonly string[]> => {
  let named = items;
  for (const [memberId, sealed] of sealedNames) {
    const name = await memberNameOf(dependencies, { workspaceId, memberId, name: '', sealed });
    const [unnamed, creator] = [
      { id: memberId, name: null },
      { id: memberId, name },
    ];
    named = named.map((item) => replaceObjectField(item, 'created_by', unnamed, creator));
  }
  return named;
};

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
  handler: async ({ params, page }, dependencies) => {
    const found = await readApiKeys(dependencies.db, params.ws, page);
    const items = await withNames(dependencies, params.ws, found);
    return pageReply({ items, next: found.next }, null);
  },
});
