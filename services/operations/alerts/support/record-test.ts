import type { AlertChannel } from '#contracts/values/alerts.ts';
import {
  type AlertDeliveryEvent,
  alertDeliveryStream,
  type DeliveryAttempted,
  type DeliveryQueued,
} from '#contracts/events/workspace/alert-delivery.ts';
import { Refusal } from '#contracts/errors.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import type { AlertRule } from '#domain/workspace/alert/rule-decider.ts';
import type { SendOutcome } from '#platform/channels/send-outcome.ts';
import { pause } from '#platform/clock.ts';
import { StreamMoved } from '#platform/event-store/event-store.ts';
import type { Call } from '#operations/endpoint/define-endpoint.ts';
import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';

type TestCall = Call<{ readonly ws: string; readonly alertId: string }, unknown, unknown>;

/** Append attempts. Other writers of the delivery stream finish between two attempts. */
const CONFLICT_RETRIES = 60;
const CONFLICT_PAUSE_MS = 20;

/** A test delivery that was sent. It is recorded as two events. */
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

/**
 * Returns the events that an earlier attempt of the same command appended, so that a retry sends nothing again.
 * `null` when there are none.
 */
export const recordedBefore = async (
  call: TestCall,
  dependencies: OperationDependencies,
): Promise<RecordedTest | null> => {
  if (!call.mayRepeat) return null;
  const { ws, alertId } = call.params;
  const events: AlertDeliveryEvent[] = [];
  let position = 0n;
  for await (const event of dependencies.eventStore.read<AlertDeliveryEvent>(
    alertDeliveryStream(ws, alertId),
  )) {
    if (event.metadata.$causationId !== call.commandId) continue;
    events.push(event);
    ({ position } = event);
  }
  return events.length === 0 ? null : { events, position };
};

/**
 * Appends the events at the end of the stream. Earlier events do not affect the result, so only the last
 * revision is read.
 */
export const recordTest = async (
  call: TestCall,
  dependencies: OperationDependencies,
  events: readonly AlertDeliveryEvent[],
): Promise<RecordedTest> => {
  const { ws, alertId } = call.params;
  const stream = alertDeliveryStream(ws, alertId);
  const metadata = {
    $correlationId: call.requestId,
    $causationId: call.commandId,
    request_id: call.requestId,
    actor: { kind: 'api_key', id: call.caller.keyId },
    workspace_id: ws,
    schema_version: 1,
  } as const;
  for (let conflicts = 0; conflicts < CONFLICT_RETRIES; conflicts += 1) {
    try {
      const last = await dependencies.eventStore.last(stream);
      const expected = last?.revision ?? -1n;
      const { position } = await dependencies.eventStore.append(
        stream,
        expected,
        events,
        metadata,
        call.commandId,
      );
      return { events, position };
    } catch (error) {
      if (!(error instanceof StreamMoved)) throw error;
      await pause(Math.random() * CONFLICT_PAUSE_MS);
    }
  }
  throw new Refusal(
    'changed_meanwhile',
    'Too many concurrent writes to the deliveries of this alert rule. Try again.',
  );
};
