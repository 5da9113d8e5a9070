import { z } from 'zod';
import { Uuid } from '#contracts/values/primitives.ts';
import { AlertDelivery } from '#contracts/resources/workspace/alert-delivery.ts';
import { AlertChannel, DeliveryStatus } from '#contracts/values/alerts.ts';
import {
  listAlertDeliveries as readDeliveries,
  searchAlertDeliveries as findDeliveries,
} from '#projections/alert-deliveries/read.ts';
import { pageReply } from '../endpoint/reply.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import {
  TIME_WINDOW_FAULT,
  commaSeparated,
  isTimeWindow,
  pageQuery,
  timeWindow,
  workspaceParams,
} from '../endpoint/parameters.ts';
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

const alertIdParameter = Uuid.toLowerCase().optional().meta({ description: 'Deliveries of this rule only.' });

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
    alert_id: alertIdParameter,
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

/** Stored times have milliseconds. */
const storedTime = (time: string | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString();

export const searchAlertDeliveries = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/alert-deliveries/search',
  operationId: 'searchAlertDeliveries',
  tag: 'Alerts',
  scope: 'alerts:read',
  summary: 'Search alert deliveries',
  description:
    'Deliveries by status, channel, rule and the time at which they were queued, newest first. A delivery that is sent again keeps that time, and is `queued` until its next attempt.',
  params: workspaceParams,
  query: z
    .strictObject({
      ...pageQuery,
      statuses: commaSeparated(
        z
          .array(DeliveryStatus)
          .min(1)
          .default(DeliveryStatus.options)
          .meta({ description: 'Only these statuses, separated by commas.' }),
      ),
      channels: commaSeparated(
        z
          .array(AlertChannel)
          .min(1)
          .default(AlertChannel.options)
          .meta({ description: 'Only these channels, separated by commas.' }),
      ),
      alert_id: alertIdParameter,
      ...timeWindow,
    })
    .refine(isTimeWindow, TIME_WINDOW_FAULT),
  body: null,
  paramsExample: { ws: WORKSPACE_ID },
  reply: { status: 200, shape: 'paged', data: AlertDelivery, example: [alertDelivery] },
  errors: ['not_found'],
  corpus: false,
  reads: ['alert-deliveries'],
  beyondContract: true,
  handler: async ({ params, query, page }, { db }) => {
    const { statuses, channels, alert_id: alertId } = query;
    const optional = { alertId, since: storedTime(query.since), until: storedTime(query.until) };
    const filter = { workspaceId: params.ws, statuses, channels, ...omitUndefined(optional) };
    return pageReply(await findDeliveries(db, filter, page), null);
  },
});
