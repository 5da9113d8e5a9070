import { IssuedWebhookSecret, IssueWebhookSecret } from '#contracts/resources/workspace/alert.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { noQuery, workspaceParams } from '../endpoint/parameters.ts';
import { WEBHOOK_SECRET } from './support/examples.ts';
import { rotateSecret } from './support/webhook-secrets.ts';

export const issueWebhookSecret = endpoint({
  method: 'POST',
  path: '/v1/workspaces/{ws}/alerts/webhook-secret',
  operationId: 'issueWebhookSecret',
  tag: 'Alerts',
  scope: 'alerts:write',
  summary: 'Create or rotate the webhook signing secret',
  description:
    'Takes an empty object as body. Only this reply shows the secret. From then on the previous secret signs nothing, not even retries of earlier deliveries.',
  params: workspaceParams,
  query: noQuery,
  body: { schema: IssueWebhookSecret, example: {} },
  paramsExample: { ws: WORKSPACE_ID },
  reply: {
    status: 201,
    shape: 'record',
    data: IssuedWebhookSecret,
    example: {
      workspace_id: WORKSPACE_ID,
      webhook_secret: WEBHOOK_SECRET,
      rotated: true,
      created_at: '2026-11-20T09:30:00.000Z',
    },
  },
  errors: ['not_found', 'conflict'],
  corpus: false,
  reads: [],
  handler: async (call, dependencies) => {
    const { text, issued_at, rotated, position } = await rotateSecret(call, dependencies);
    const issued = { workspace_id: call.params.ws, webhook_secret: text, rotated, created_at: issued_at };
    return { data: JSON.stringify(issued), asOf: null, position, shownOnce: { keyId: null } };
  },
});
