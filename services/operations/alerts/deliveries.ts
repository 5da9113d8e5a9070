import { z } from 'zod';
import { DeliveryStatement, ruleOf } from '#contracts/audit/proof.ts';
import { Refusal } from '#contracts/errors.ts';
import { socialPageStream } from '#contracts/events/corpus/social-page.ts';
import type { DeliveryQueued } from '#contracts/events/workspace/alert-delivery.ts';
import { type AlertRuleEvent, alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import { trackingStream } from '#contracts/events/workspace/workspace.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import { AlertDelivery } from '#contracts/resources/workspace/alert-delivery.ts';
import { AlertChannel, DeliveryStatus } from '#contracts/values/alerts.ts';
import { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { explainDelivery, findQueued } from '#application/alerts/explain-delivery.ts';
import { streamsOfBrand } from '#application/as-of/event-streams.ts';
import {
  findAlertDelivery,
  listAlertDeliveries as readDeliveries,
  searchAlertDeliveries as findDeliveries,
} from '#projections/alert-deliveries/read.ts';
import { listPagesOfBrands } from '#projections/signals/read.ts';
import type { OperationDependencies } from '../dependencies/dependencies.ts';
import { pageReply } from '../endpoint/reply.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import {
  TIME_WINDOW_FAULT,
  commaSeparated,
  isTimeWindow,
  noQuery,
  pageQuery,
  timeWindow,
  workspaceParams,
} from '../endpoint/parameters.ts';
import { PROOF_DIGESTS, proofExample, proofShape, replyWithProof } from '../endpoint/proof-reply.ts';
import { ALERT_ID, alertPayload, DELIVERY_ID } from './rules.ts';
import { workspaceRead } from '../endpoint/kinds.ts';

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
  ...workspaceRead,
  path: '/v1/workspaces/{ws}/alert-deliveries',
  operationId: 'listAlertDeliveries',
  tag: 'Alerts',
  scope: 'alerts:read',
  summary: 'List alert deliveries',
  description:
    'Deliveries of all rules, queued ones included, newest first, each with its attempts. Deleting a rule deletes its history.',
  query: z.strictObject({ ...pageQuery, alert_id: alertIdParameter }),
  reply: { status: 200, shape: 'paged', data: AlertDelivery, example: [alertDelivery] },
  reads: ['alert-deliveries'],
  handler: async ({ params, query, page }, { db }) =>
    pageReply(await readDeliveries(db, params.ws, query.alert_id, page), null),
});

/** Stored times have milliseconds. */
const storedTime = (time: string | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString();

export const searchAlertDeliveries = endpoint({
  ...workspaceRead,
  path: '/v1/workspaces/{ws}/alert-deliveries/search',
  operationId: 'searchAlertDeliveries',
  tag: 'Alerts',
  scope: 'alerts:read',
  summary: 'Search alert deliveries',
  description:
    'Deliveries by status, channel, rule and the time at which they were queued, newest first. A delivery that is sent again keeps that time, and is `queued` until its next attempt.',
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
  reply: { status: 200, shape: 'paged', data: AlertDelivery, example: [alertDelivery] },
  reads: ['alert-deliveries'],
  beyondContract: true,
  handler: async ({ params, query, page }, { db }) => {
    const { statuses, channels, alert_id: alertId } = query;
    const optional = { alertId, since: storedTime(query.since), until: storedTime(query.until) };
    const filter = { workspaceId: params.ws, statuses, channels, ...omitUndefined(optional) };
    return pageReply(await findDeliveries(db, filter, page), null);
  },
});

const DeliveryProof = z
  .strictObject({
    statement: DeliveryStatement,
    ...proofShape,
    delivery: AlertPayload,
    reasons: z
      .array(
        z.strictObject({
          item_id: Uuid.nullable().meta({
            description: 'Id of the item; null for a delivery that matches no event.',
          }),
          reason: z.string().meta({ description: 'Why it was sent, in a sentence.' }),
        }),
      )
      .meta({ description: 'The reason of each item that the delivery lists.' }),
    faults: z.array(z.string()).meta({
      description: 'A sentence for each thing of the delivery that the events do not give; empty for most.',
    }),
  })
  .meta({ id: 'DeliveryProof', description: 'Why a delivery was sent, with all that it takes to check it.' });

const deliveryStatement: DeliveryStatement = {
  about: 'delivery',
  workspace_id: WORKSPACE_ID,
  alert_id: ALERT_ID,
  delivery_id: DELIVERY_ID,
  as_of: '2026-11-20T09:31:00.000Z',
  streams: [{ stream: `alertRule-${WORKSPACE_ID}+${ALERT_ID}`, revision: '2' }],
};

const DELIVERY_UNKNOWN = new Refusal('not_found', 'Delivery not found.');
const NOT_IN_LOG = new Refusal('not_found', 'The delivery is not in the log yet. Try again in a second.');

/** Brands of the items; those of all versions of the rule where others decide too: beyond listed items, and by a daily maximum. */
const brandsThatDecide = async (
  eventStore: OperationDependencies['eventStore'],
  { workspace_id, alert_id, payload }: DeliveryQueued['data'],
): Promise<readonly string[]> => {
  const all = new Set<string>();
  let isLimited = payload.items.length < payload.items_total;
  for await (const { type, data, unreadable } of eventStore.read<AlertRuleEvent>(
    alertRuleStream(workspace_id, alert_id),
  )) {
    if (unreadable !== undefined || (type !== 'AlertRuleCreated' && type !== 'AlertRuleChanged')) continue;
    const { brand_ids, max_per_day } = type === 'AlertRuleCreated' ? data : data.changes;
    for (const brandId of brand_ids ?? []) all.add(brandId);
    isLimited ||= Boolean(max_per_day);
  }
  return isLimited ? [...all] : [...new Set(payload.items.map(({ brand }) => brand.id))];
};

const NO_TRACKING = new Refusal(
  'scope_missing',
  'The proof has the tracked brands: the key needs the scope `tracking:read` too.',
);

export const getDeliveryProof = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/alert-deliveries/{deliveryId}/proof',
  operationId: 'getDeliveryProof',
  tag: 'Alerts',
  scope: 'alerts:read',
  summary: 'Read why a delivery was sent',
  description: `The delivery, which event met which condition of its rule, and a link to a bundle of every event that it rests on: of the rule, its deliveries, the brands that the workspace tracks, and of the brands themselves. The bundle has the whole history of the rule, its addresses included, and which brands were tracked: keep the link. The key needs the scope \`tracking:read\` too. ${PROOF_DIGESTS}`,
  params: z.strictObject({
    ...workspaceParams.shape,
    deliveryId: Uuid.toLowerCase().meta({ description: 'Id of a delivery.' }),
  }),
  query: noQuery,
  body: null,
  paramsExample: { ws: WORKSPACE_ID, deliveryId: DELIVERY_ID },
  reply: {
    status: 200,
    shape: 'record',
    data: DeliveryProof,
    example: {
      statement: deliveryStatement,
      rule: ruleOf(deliveryStatement),
      ...proofExample,
      delivery: alertPayload,
      reasons: [
        {
          item_id: alertPayload.items[0]?.id ?? null,
          reason:
            'Harbor & Pine was observed running a new ad: “Cove boot” The rule “Launches” tells of ads that started at Harbor & Pine: event 812 of its library (AdStarted).',
        },
      ],
      faults: [],
    },
  },
  errors: ['not_found'],
  corpus: false,
  heavy: true,
  reads: ['alert-deliveries', 'signals'],
  beyondContract: true,
  handler: async ({ params: { ws: workspace_id, deliveryId: delivery_id }, caller }, dependencies) => {
    if (!caller.scopes.has('tracking:read')) throw NO_TRACKING;
    const { db, eventStore, pastPlaces } = dependencies;
    const known = await findAlertDelivery(db, workspace_id, delivery_id);
    if (known === null) throw DELIVERY_UNKNOWN;
    const key = { workspace_id, alert_id: known.alert_id, delivery_id };
    const found = await findQueued(eventStore, key);
    if (found === null) throw NOT_IN_LOG;
    const brandIds = await brandsThatDecide(eventStore, found.data);
    const pages = await listPagesOfBrands(db, brandIds);
    const streams = [
      trackingStream(workspace_id),
      ...brandIds.flatMap(streamsOfBrand),
      ...pages.map(socialPageStream),
    ];
    const explained = await pastPlaces(workspace_id, () => explainDelivery(dependencies, key, streams));
    if (explained === null) throw NOT_IN_LOG;
    const { queued, reasons, faults, recordedAt } = explained;
    const proof = await replyWithProof<DeliveryStatement>(
      { about: 'delivery', ...key, as_of: recordedAt.toISOString() },
      explained.streams,
      dependencies,
    );
    const data = { ...proof, delivery: queued.payload, reasons, faults };
    return { data: JSON.stringify(data), asOf: null };
  },
});
