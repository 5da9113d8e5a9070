import { z } from 'zod';
import { ApiKey } from '#contracts/resources/api-key.ts';
import { type ListedApiKey, listApiKeys as readApiKeys } from '#projections/across/listed-api-keys.ts';
import { listText } from '../../answers.ts';
import { endpoint } from '../../endpoint.ts';
import { apiKey, WORKSPACE_ID } from '../../examples.ts';
import { pageQuery, workspaceParams } from '../../parameters.ts';

const quoted = (text: string | null): string => (text === null ? 'null' : `"${text}"`);

/** What is fixed is stored as JSON text; only the name of the member is free text here. */
const itemOf = (row: ListedApiKey): string =>
  `${row.issued.slice(0, -1)},"status":"${row.revoked_at === null ? 'active' : 'revoked'}"` +
  `,"created_at":"${row.issued_at}","created_by":{"id":"${row.member_id}","name":${JSON.stringify(row.member_name)}}` +
  `,"last_used_at":${quoted(row.last_used_at)},"revoked_at":${quoted(row.revoked_at)}}`;

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
  handler: async ({ params, page }, { db }) => {
    const { rows, next } = await readApiKeys(db, params.ws, page);
    return { data: listText(rows.map(itemOf)), asOf: null, count: rows.length, next };
  },
});
