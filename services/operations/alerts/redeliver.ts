import { Refusal } from '#contracts/errors.ts';
import {
  REDELIVERIES_MAX,
  Redeliver,
  RedeliverFailed,
  Redelivered,
  RedeliveredFailed,
} from '#contracts/resources/workspace/alert-delivery.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import { createDeliveryTables } from '#application/delivery-outbox/create-tables.ts';
import { type Cause, publishBatch } from '#application/delivery-outbox/journal.ts';
import {
  type ReplayOptions,
  findCurrentTargets,
  replayToCurrentTargets,
  replayedBy,
} from '#application/delivery-outbox/replay.ts';
import {
  type KnownDelivery,
  findAlertDelivery,
  listFailedSince,
} from '#projections/alert-deliveries/read.ts';
import type { OperationDependencies } from '../dependencies/dependencies.ts';
import { type Call, endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { noQuery, workspaceParams } from '../endpoint/parameters.ts';
import { z } from 'zod';
import { ALERT_ID, DELIVERY_ID } from './rules.ts';

type AnyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'requestId' | 'commandId' | 'mayRepeat'>;

const causeOf = ({ caller, requestId, commandId }: AnyCall): Cause => ({
  actor: { kind: caller.kind, id: caller.keyId },
  request_id: requestId,
  command_id: commandId,
});

/** Deliveries that an earlier attempt of the same request sent again. */
const earlierOf = async ({ mayRepeat, commandId }: AnyCall, { pool }: OperationDependencies) =>
  mayRepeat ? replayedBy(pool, commandId) : [];

/** Batches of the journal that a request publishes; the delivery process publishes the rest. */
const BATCHES_MAX = 3;

/**
 * Publishes as the delivery process would within a second, so that the caller reads what it wrote. Returns a position
 * at which the log has it; `null` when it has not yet.
 */
const publishNow = async (dependencies: OperationDependencies): Promise<bigint | null> => {
  const { pool, eventStore, projectionWait, log } = dependencies;
  try {
    for (let batch = 1; await publishBatch(pool, eventStore, log); batch += 1)
      if (batch >= BATCHES_MAX) return null;
    const position = await eventStore.head();
    await projectionWait.wait(['alert-deliveries'], position);
    return position;
  } catch (error) {
    log.warn({ err: error }, 'redelivery recorded, and published later');
    return null;
  }
};

const notSendable = (message: string): Refusal => new Refusal('not_sendable', message);
const NOT_FOUND = new Refusal('not_found', 'Delivery not found.');
const STILL_SENT = notSendable('The delivery is still being sent. Wait until it has failed or arrived.');
const IS_TEST = notSendable('A test is not sent again. Send another test of the rule.');
const NO_TARGET = notSendable(
  'The rule is off, or its channel was removed or is suspended. Change the rule first.',
);
const NOT_STORED = notSendable('The delivery ended over 30 days ago and is no longer stored.');

/** Throws `not_sendable`. */
const sendAgain = async (
  call: AnyCall,
  deliveryId: string,
  { kind, status }: KnownDelivery,
  dependencies: OperationDependencies,
): Promise<void> => {
  if (kind === 'test') throw IS_TEST;
  if (status === 'queued' || status === 'retrying') throw STILL_SENT;
  const { targets, withoutTarget } = await findCurrentTargets(dependencies, [deliveryId]);
  if (withoutTarget.length > 0) throw NO_TARGET;
  if (targets.size === 0) throw NOT_STORED;
  const options = { cause: causeOf(call) };
  const sent = await replayToCurrentTargets(dependencies.pool, [deliveryId], targets, options);
  if (sent.length === 0) throw STILL_SENT;
};

export const redeliver = endpoint({
  method: 'POST',
  path: '/v1/workspaces/{ws}/alert-deliveries/{deliveryId}/redeliver',
  operationId: 'redeliver',
  tag: 'Alerts',
  scope: 'alerts:write',
  summary: 'Send a delivery again',
  description:
    'Takes an empty object as body. Starts a new round of attempts of a delivery that was delivered, failed or cancelled, with the same bytes and the same `webhook-id`, to the present address of the rule. 409 while it is still being sent, when its rule is off, when its channel was removed or is suspended, for a test, and 30 days after its end.',
  params: z.strictObject({
    ...workspaceParams.shape,
    deliveryId: Uuid.toLowerCase().meta({ description: 'Id of a delivery.' }),
  }),
  query: noQuery,
  body: { schema: Redeliver, example: {} },
  paramsExample: { ws: WORKSPACE_ID, deliveryId: DELIVERY_ID },
  reply: {
    status: 200,
    shape: 'record',
    data: Redelivered,
    example: { delivery_id: DELIVERY_ID, alert_id: ALERT_ID, workspace_id: WORKSPACE_ID },
  },
  errors: ['not_found', 'conflict'],
  corpus: false,
  reads: [],
  beyondContract: true,
  handler: async (call, dependencies) => {
    const { ws: workspace_id, deliveryId: delivery_id } = call.params;
    const found = await findAlertDelivery(dependencies.db, workspace_id, delivery_id);
    if (!found) throw NOT_FOUND;
    await createDeliveryTables(dependencies.pool);
    const earlier = await earlierOf(call, dependencies);
    if (earlier.length === 0) await sendAgain(call, delivery_id, found, dependencies);
    const position = await publishNow(dependencies);
    const data = { delivery_id, alert_id: found.alert_id, workspace_id };
    return { data: JSON.stringify(data), asOf: null, position };
  },
});

/** Failed deliveries that one request looks at. */
const EXAMINED_MAX = 10_000;

export const redeliverFailed = endpoint({
  method: 'POST',
  path: '/v1/workspaces/{ws}/alert-deliveries/redeliver',
  operationId: 'redeliverFailed',
  tag: 'Alerts',
  scope: 'alerts:write',
  summary: 'Send failed deliveries again',
  description: `Sends the deliveries again that were given up since a time, those given up first before others, at most ${REDELIVERIES_MAX} per request. Each is sent as a single one is: same bytes, same \`webhook-id\`. Tests are left out.`,
  params: workspaceParams,
  query: noQuery,
  body: { schema: RedeliverFailed, example: { since: '2026-11-20T00:00:00Z' } },
  paramsExample: { ws: WORKSPACE_ID },
  reply: {
    status: 200,
    shape: 'record',
    data: RedeliveredFailed,
    example: { workspace_id: WORKSPACE_ID, redelivered: 12, not_sendable: 0, more: false },
  },
  errors: ['not_found'],
  corpus: false,
  reads: [],
  beyondContract: true,
  handler: async (call, dependencies) => {
    const workspace_id = call.params.ws;
    const { pool, db } = dependencies;
    await createDeliveryTables(pool);
    const since = new Date(call.body.since).toISOString();
    const failed = await listFailedSince(db, workspace_id, since, EXAMINED_MAX + 1);
    const examined = failed.slice(0, EXAMINED_MAX);
    const { targets } = await findCurrentTargets(dependencies, examined);
    const chosen = examined.filter((id) => targets.has(id)).slice(0, REDELIVERIES_MAX);
    const options: ReplayOptions = { status: 'failed', cause: causeOf(call) };
    const earlier = await earlierOf(call, dependencies);
    const sent = earlier.length > 0 ? earlier : await replayToCurrentTargets(pool, chosen, targets, options);
    const position = await publishNow(dependencies);
    const counts = {
      redelivered: sent.length,
      not_sendable: examined.length - targets.size,
      more: targets.size > chosen.length || failed.length > examined.length,
    };
    return { data: JSON.stringify({ workspace_id, ...counts }), asOf: null, position };
  },
});
