import { z } from 'zod';
import { ApiKey } from '#contracts/resources/workspace/api-key.ts';
import { type ApiKeyPage, listApiKeys as readApiKeys } from '#projections/across/listed-api-keys.ts';
import { pageAnswer } from '../../answers.ts';
import { endpoint } from '../../endpoint.ts';
import { apiKey, WORKSPACE_ID } from '../../examples.ts';
import { memberNameOf } from '../../member-names.ts';
import { pageQuery, workspaceParams } from '../../parameters.ts';
import type { ApiRoom } from '../../room.ts';

/** A page with the names that the vault opens, each once. */
const withNames = async (
  room: ApiRoom,
  workspaceId: string,
  { items, sealedNames }: ApiKeyPage,
): Promise<readonly string[]> => {
  let named = items;
  for (const [memberId, sealed] of sealedNames) {
    const name = await memberNameOf(room, { workspaceId, memberId, name: '', sealed });
    const start = `"created_by":{"id":"${memberId}","name":`;
    named = named.map((item) => item.replace(`${start}null`, () => start + JSON.stringify(name)));
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
  handler: async ({ params, page }, room) => {
    const found = await readApiKeys(room.db, params.ws, page);
    const items = await withNames(room, params.ws, found);
    return pageAnswer({ items, next: found.next }, null);
  },
});
