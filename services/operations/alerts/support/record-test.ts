import type { AlertChannel } from '#contracts/values/alerts.ts';
import {
  type AlertDeliveryEvent,
  alertDeliveryStream,
  type DeliveryAttempted,
  type DeliveryQueued,
} from '#contracts/events/workspace/alert-delivery.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import type { AlertRule } from '#domain/workspace/alert/rule-decider.ts';
import type { SendOutcome } from '#platform/channels/send-outcome.ts';
import { eventMetadata } from '#application/commands/event-metadata.ts';
import { CALLER_CONFLICTS, handleCommand } from '#application/commands/handle-command.ts';
import type { EventStore, Recorded } from '#platform/event-store/event-store.ts';
import type { Call } from '#operations/endpoint/define-endpoint.ts';
import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';

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
