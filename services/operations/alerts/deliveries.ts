import { z } from 'zod';
import { Uuid } from '#contracts/values/primitives.ts';
import { AlertDelivery } from '#contracts/resources/workspace/alert-delivery.ts';
import { listAlertDeliveries as readDeliveries } from '#projections/alert-deliveries/read.ts';
import { pageReply } from '../endpoint/reply.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { pageQuery, workspaceParams } from '../endpoint/parameters.ts';
import { ALERT_ID, DELIVERY_ID } from './rules.ts';

const attempt = {
  attempt: 1,
  attempted_at: '2026-11-20T09:31:00.000Z',
  outcome: 'retrying',
  failure: 'http',
  status_code: 503,
  reason: 'The receiver answered 503.',
  duration_ms: 184,
  next_attempt_at: '2026-11-20T09:31:05.000Z',
};

const alertDelivery = {
  id: DELIVERY_ID,
  alert_id: ALERT_ID,
  channel: 'webhook',
  kind: 'alert',
  status: 'delivered',
  items_total: 2,
  created_at: '2026-11-20T09:31:00.000Z',
  next_attempt_at: null,
  finished_at: '2026-11-20T09:31:05.000Z',
  reason: null,
  attempts_total: 2,
  attempts: [
    attempt,
    {
      ...attempt,
      attempt: 2,
      attempted_at: '2026-11-20T09:31:05.000Z',
      outcome: 'delivered',
      failure: null,
      status_code: 200,
      reason: null,
      duration_ms: 96,
      next_attempt_at: null,
    },
  ],
};

export const listAlertDeliveries = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/alert-deliveries',
  operationId: 'listAlertDeliveries',
  tag: 'Alerts',
  scope: 'alerts:read',
  summary: 'List alert deliveries',
  description:
    'Deliveries of all rules, queued ones included, newest first, each with its attempts. Deleting a rule deletes its history.',
  params: workspaceParams,
  query: z.strictObject({
    ...pageQuery,
    alert_id: Uuid.toLowerCase().optional().meta({ description: 'Deliveries of this rule only.' }),
  }),
  body: null,
  paramsExample: { ws: WORKSPACE_ID },
  reply: { status: 200, shape: 'paged', data: AlertDelivery, example: [alertDelivery] },
  errors: ['not_found'],
  corpus: false,
  reads: ['alert-deliveries'],
  handler: async ({ params, query, page }, { db }) =>
    pageReply(await readDeliveries(db, params.ws, query.alert_id, page), null),
});
