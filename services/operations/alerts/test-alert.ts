import type { AlertChannel, AlertTrigger } from '#contracts/values/alerts.ts';
import type { AlertItem, AlertItemType, AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { type AlertRule, channelsOf } from '#domain/workspace/alert/rule-decider.ts';
import { brandIdOf, derivedId } from '#domain/ids.ts';
import { type SendOutcome, failedOutcome } from '#platform/channels/send-outcome.ts';
import { webhookKeysOf } from '#platform/channels/webhook.ts';
import { findNames } from '#projections/workspaces/read.ts';
import {
  type AlertDeliveryEvent,
  type DeliveryAttempted,
  type DeliveryQueued,
  alertDeliveryStream,
} from '#contracts/events/workspace/alert-delivery.ts';
import { eventMetadata, CALLER_CONFLICTS, handleCommand } from '#application/commands/command-handler.ts';
import type { EventStore, Recorded } from '#platform/event-store/event-store.ts';
import { Refusal } from '#contracts/errors.ts';
import { TEST_SENDS_PER_MINUTE, TestAlert, TestedAlert } from '#contracts/resources/workspace/alert.ts';
import type { OperationDependencies } from '../dependencies/dependencies.ts';
import { type Call, endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { noQuery } from '../endpoint/parameters.ts';
import { ALERT_ID, DELIVERY_ID, alertParams, requireRule } from './rules.ts';

/** Item type and title per trigger. The sample brand, ad and page do not exist in this service. */
const SAMPLES: Readonly<Record<AlertTrigger, readonly [AlertItemType, string]>> = {
  new_ads: ['ad_started', 'Sample: an ad was observed for the first time.'],
  stopped_ads: ['ad_stopped', 'Sample: the library shows an ad as ended.'],
  page_changes: ['destination_changed', 'Sample: an ad links somewhere else.'],
  new_partners: ['partner_started', "Sample: an ad was observed on a creator's page for the first time."],
  activity: ['activity', 'Sample: more active ads than a week before.'],
};

const itemOf = (
  deliveryId: string,
  { trigger, workspace_id }: AlertRule,
  at: string,
  baseUrl: string,
): AlertItem => {
  const [type, title] = SAMPLES[trigger];
  return {
    id: derivedId('sample item', deliveryId),
    type,
    observed_at: at,
    brand: {
      id: brandIdOf('sample.example'),
      slug: 'sample',
      name: 'Sample brand',
      logo_url: null,
      // The brand does not exist, and a link must lead somewhere.
      url: `${baseUrl}/v1/brands`,
    },
    title,
    ad_id: null,
    page_id: null,
    destination_url: type === 'destination_changed' ? 'https://sample.example/now' : null,
    previous_destination_url: type === 'destination_changed' ? 'https://sample.example/before' : null,
    signal: type === 'activity' ? 'ramp' : null,
    url: `${baseUrl}/v1/workspaces/${workspace_id}/radar`,
  };
};

/** Shapes the sample like a real delivery and marks its only item as a sample. */
export const samplePayload = (
  deliveryId: string,
  rule: AlertRule,
  at: string,
  baseUrl: string,
): AlertPayload => ({
  id: deliveryId,
  type: 'alert.test',
  kind: 'test',
  created_at: at,
  workspace_id: rule.workspace_id,
  alert: { id: rule.alert_id, name: rule.name, trigger: rule.trigger, cadence: rule.cadence },
  period: null,
  items_total: 1,
  items: [itemOf(deliveryId, rule, at, baseUrl)],
  as_of: at,
});

/** Outcome for a channel without a usable target. Nothing was sent. */
const blockedOutcome = (reason: string): SendOutcome =>
  failedOutcome('blocked_target', reason, performance.now());

const byWebhook = async (
  rule: AlertRule,
  payload: AlertPayload,
  dependencies: OperationDependencies,
): Promise<SendOutcome> => {
  const secret = await dependencies.signingSecrets?.current(rule.workspace_id);
  if (!secret || rule.webhook_url === null)
    return blockedOutcome('The workspace has no signing secret. Create one.');
  const target = { url: rule.webhook_url, deliveryId: payload.id, keys: webhookKeysOf(secret) };
  return dependencies.alertChannels.webhook.sendOnce(target, Buffer.from(JSON.stringify(payload), 'utf8'));
};

const byChat = async (
  rule: AlertRule,
  payload: AlertPayload,
  dependencies: OperationDependencies,
): Promise<SendOutcome> => {
  const { workspace_id, alert_id, chat } = rule;
  const url = chat && (await dependencies.secretVault?.open(workspace_id, alert_id, chat.fingerprint));
  if (!url) return blockedOutcome('The address of the chat tool is no longer stored. Set it again.');
  return dependencies.alertChannels.chat.sendOnce({ url }, payload);
};

const byEmail = async (
  rule: AlertRule,
  payload: AlertPayload,
  dependencies: OperationDependencies,
): Promise<SendOutcome> => {
  const { workspace_id, member_id } = rule;
  const names = await findNames(dependencies.db, workspace_id, member_id);
  const sealed = names?.sealed ?? null;
  const person =
    sealed === null ? null : await dependencies.memberVault?.open(workspace_id, member_id, sealed);
  if (!person?.email) return blockedOutcome('The member who created the rule has no e-mail address.');
  return dependencies.alertChannels.email.sendOnce({ to: person.email, deliveryId: payload.id }, payload);
};

const SENDERS: Readonly<Record<AlertChannel, typeof byEmail>> = {
  email: byEmail,
  webhook: byWebhook,
  chat: byChat,
};

/** Sends once, without retries. */
export const sendSample = (
  channel: AlertChannel,
  rule: AlertRule,
  payload: AlertPayload,
  dependencies: OperationDependencies,
): Promise<SendOutcome> => SENDERS[channel](rule, payload, dependencies);

type TestCall = Call<{ readonly ws: string; readonly alertId: string }, unknown, unknown>;

/** A test that was sent; two events record it. */
export type TestDelivery = {
  readonly channel: AlertChannel;
  readonly payload: AlertPayload;
  readonly attempted_at: string;
  readonly outcome: SendOutcome;
};

export const eventsOf = (
  { workspace_id, alert_id }: AlertRule,
  { channel, payload, attempted_at, outcome }: TestDelivery,
): readonly [DeliveryQueued, DeliveryAttempted] => {
  const named = { workspace_id, alert_id, delivery_id: payload.id };
  const { delivered, failure, status_code, reason, duration_ms } = outcome;
  const queued = { ...named, channel, kind: 'test', payload, queued_at: attempted_at } as const;
  const attempted = {
    ...named,
    attempt: 1,
    attempted_at,
    outcome: delivered ? 'delivered' : 'failed',
    failure,
    status_code,
    reason,
    duration_ms,
    next_attempt_at: null,
  } as const;
  return [
    { type: 'DeliveryQueued', data: queued },
    { type: 'DeliveryAttempted', data: attempted },
  ];
};

export type RecordedTest = { readonly events: readonly AlertDeliveryEvent[]; readonly position: bigint };

/** The stream of deliveries never ends, and a retry follows its first attempt closely. */
const EVENTS_LOOKED_AT = 200;

/** Finds the events of an earlier attempt, so that a retry sends nothing again; `null` when there are none. */
export const findEarlierTest = async (
  call: Pick<TestCall, 'params' | 'commandId' | 'mayRepeat'>,
  { eventStore }: { readonly eventStore: Pick<EventStore, 'newest'> },
): Promise<RecordedTest | null> => {
  if (!call.mayRepeat) return null;
  const { ws, alertId } = call.params;
  const stream = alertDeliveryStream(ws, alertId);
  const newest = await eventStore.newest<AlertDeliveryEvent>(stream, EVENTS_LOOKED_AT);
  const events = newest.filter(({ metadata }) => metadata.$causationId === call.commandId).toReversed();
  const position = events.at(-1)?.position;
  return position === undefined ? null : { events, position };
};

/** Reads only the last revision, because earlier events do not affect the result. */
export const recordTest = async (
  call: TestCall,
  dependencies: OperationDependencies,
  events: readonly AlertDeliveryEvent[],
): Promise<RecordedTest> => {
  const { ws, alertId } = call.params;
  const { eventStore } = dependencies;
  const stream = alertDeliveryStream(ws, alertId);
  const metadata = eventMetadata({
    actor: { kind: call.caller.kind, id: call.caller.keyId },
    correlationId: call.requestId,
    causationId: call.commandId,
    workspaceId: ws,
  });
  let expected = -1n;
  let recorded: Recorded | null = null;
  await handleCommand<null, AlertDeliveryEvent>({
    store: {
      load: async () => {
        expected = (await eventStore.last(stream))?.revision ?? -1n;
        return null;
      },
      append: async (decided) => {
        recorded = await eventStore.append(stream, expected, decided, metadata, call.commandId);
      },
      commit: async () => recorded,
    },
    decide: () => events,
    conflicts: CALLER_CONFLICTS,
  });
  return { events, position: (recorded as Recorded | null)?.position ?? 0n };
};

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
