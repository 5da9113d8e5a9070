import type { AlertDeliveryEvent } from '#contracts/events/workspace/alert-delivery.ts';
import { Refusal } from '#contracts/errors.ts';
import { TEST_SENDS_PER_MINUTE, TestAlert, TestedAlert } from '#contracts/resources/workspace/alert.ts';
import { channelsOf } from '#domain/workspace/alert/rule-decider.ts';
import { derivedId } from '#domain/ids.ts';
import type { OperationDependencies } from '../dependencies/dependencies.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { noQuery } from '../endpoint/parameters.ts';
import { requireRule } from './support/load-alert-rule.ts';
import { ALERT_ID, DELIVERY_ID } from './support/examples.ts';
import { alertParams } from './support/parameters.ts';
import { samplePayload } from './support/sample-payload.ts';
import { sendSample } from './support/send-test.ts';
import { eventsOf, findEarlierTest, recordTest } from './support/record-test.ts';

const deliveriesOf = (events: readonly AlertDeliveryEvent[]): TestedAlert['deliveries'] =>
  events.flatMap((queued) => {
    if (queued.type !== 'DeliveryQueued') return [];
    const { delivery_id, channel } = queued.data;
    return events.flatMap(({ type, data }) => {
      if (type !== 'DeliveryAttempted' || data.delivery_id !== delivery_id) return [];
      const { outcome, failure, status_code, reason, duration_ms } = data;
      const delivered = outcome === 'delivered';
      return [{ delivery_id, channel, delivered, failure, status_code, reason, duration_ms }];
    });
  });

/** Throws at the limit, because samples go to addresses of third parties. */
const requireTestSend = (
  { requestCounts }: Pick<OperationDependencies, 'requestCounts'>,
  workspaceId: string,
): void => {
  const { allowed, resetIn } = requestCounts.take(`test sends ${workspaceId}`, TEST_SENDS_PER_MINUTE);
  if (allowed) return;
  throw new Refusal(
    'limit_reached',
    `A workspace can send at most ${TEST_SENDS_PER_MINUTE} tests in a minute. Try again in ${resetIn} s.`,
  );
};

export const testAlert = endpoint({
  method: 'POST',
  path: '/v1/workspaces/{ws}/alerts/{alertId}/test',
  operationId: 'testAlert',
  tag: 'Alerts',
  scope: 'alerts:write',
  summary: 'Send a sample of an alert now',
  description: `Takes an empty object as body. Sends one sample on each channel of the rule and returns the results. Includes suspended channels and works for a disabled rule. A failed sample is not retried. The samples are listed among the deliveries, with the kind \`test\`. 409 after ${TEST_SENDS_PER_MINUTE} tests of the workspace in a minute.`,
  params: alertParams,
  query: noQuery,
  body: { schema: TestAlert, example: {} },
  paramsExample: { ws: WORKSPACE_ID, alertId: ALERT_ID },
  reply: {
    status: 200,
    shape: 'record',
    data: TestedAlert,
    example: {
      alert_id: ALERT_ID,
      workspace_id: WORKSPACE_ID,
      deliveries: [
        {
          delivery_id: DELIVERY_ID,
          channel: 'webhook',
          delivered: false,
          failure: 'http',
          status_code: 404,
          reason: 'The receiver answered 404.',
          duration_ms: 118,
        },
      ],
    },
  },
  errors: ['not_found', 'conflict'],
  corpus: false,
  reads: [],
  handler: async (call, dependencies) => {
    const { ws: workspace_id, alertId: alert_id } = call.params;
    const rule = await requireRule(dependencies.eventStore, workspace_id, alert_id);
    // Counts before it reads the log, also for retries.
    requireTestSend(dependencies, workspace_id);
    const send = async () => {
      const sending = channelsOf(rule).map(async (channel) => {
        const attempted_at = dependencies.clock.now().toISOString();
        const deliveryId = derivedId('test delivery', `${alert_id}|${channel}|${call.commandId}`);
        const payload = samplePayload(deliveryId, rule, attempted_at, dependencies.baseUrl);
        const outcome = await sendSample(channel, rule, payload, dependencies);
        return eventsOf(rule, { channel, payload, attempted_at, outcome });
      });
      return recordTest(call, dependencies, (await Promise.all(sending)).flat());
    };
    const { events, position } = (await findEarlierTest(call, dependencies)) ?? (await send());
    await dependencies.projectionWait.wait(['alert-deliveries'], position);
    const data = JSON.stringify({ alert_id, workspace_id, deliveries: deliveriesOf(events) });
    return { data, asOf: null, position };
  },
});
