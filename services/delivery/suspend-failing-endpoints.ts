import { ALERT_RULE, alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import { type AlertRule, alertRule, suspendAlertChannel } from '#domain/workspace/alert/rule-decider.ts';
import { alertPayload } from '#domain/workspace/alert/payload.ts';
import { derivedId } from '#domain/ids.ts';
import type { Clock } from '#platform/clock.ts';
import { cancelDeliveriesOfAlert, runToEnd } from '#application/delivery-outbox/cancel.ts';
import { enqueue, type QueuedDelivery } from '#application/delivery-outbox/enqueue.ts';
import {
  closeFailureStreak,
  findEndpointsToSuspend,
  type FailingEndpoint,
  SUSPENDED,
} from '#application/delivery-outbox/failing-endpoints.ts';
import { executeCommand, eventMetadata, serviceActor } from '#application/commands/command-handler.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';

const ENDPOINTS_PER_RUN = 100;

export type SuspensionDependencies = {
  readonly pool: Database;
  readonly eventStore: EventStore;
  readonly clock: Clock;
  readonly log: Log;
};

/** From the suspension, so that repeated runs create one notice. */
const noticeIdOf = ({ alertId, channel, since }: FailingEndpoint): string =>
  derivedId('suspension notice', `${alertId}|${channel}|${since.toISOString()}`);

const notify = async (
  client: Transaction,
  rule: AlertRule,
  failing: FailingEndpoint,
  at: string,
): Promise<readonly QueuedDelivery[]> => {
  const deliveryId = noticeIdOf(failing);
  const about = {
    matched: { items: [], items_total: 0, as_of: at },
    period: null,
    suspended_channel: failing.channel,
  };
  return enqueue(client, [
    {
      deliveryId,
      workspaceId: rule.workspace_id,
      alertId: rule.alert_id,
      kind: 'notice',
      target: { channel: 'email', member_id: rule.member_id },
      payload: alertPayload({ delivery_id: deliveryId, kind: 'notice', rule, at, ...about }),
      queuedAt: at,
    },
  ]);
};

const suspend = async (
  { pool, eventStore, clock, log }: SuspensionDependencies,
  failing: FailingEndpoint,
): Promise<readonly QueuedDelivery[]> => {
  const { alertId, workspaceId, channel } = failing;
  const at = clock.now();
  const failing_since = failing.since.toISOString();
  const commandId = derivedId('suspension', `${alertId}|${channel}|${failing_since}`);
  const metadata = eventMetadata({
    actor: serviceActor('delivery'),
    correlationId: commandId,
    causationId: commandId,
    workspaceId,
  });
  const { state } = await executeCommand(eventStore, {
    stream: alertRuleStream(workspaceId, alertId),
    decider: alertRule,
    decision: suspendAlertChannel({
      workspace_id: workspaceId,
      alert_id: alertId,
      channel,
      failing_since,
      at: at.toISOString(),
    }),
    metadata,
    commandId,
  });
  // The log decides, so that a suspension completes after a crash. A channel disabled meanwhile gets no notice.
  const isOurs = state?.status === 'present' && state.suspended[channel]?.failing_since === failing_since;
  return inTransaction(pool, async (client) => {
    await closeFailureStreak(client, failing, isOurs ? at : null);
    if (!isOurs) return [];
    await runToEnd(client, cancelDeliveriesOfAlert(alertId, [channel], SUSPENDED, at));
    log.info({ [ALERT_RULE]: alertId, channel, failing_since }, 'channel suspended');
    return notify(client, state, failing, at.toISOString());
  });
};

/** Cancels pending deliveries and queues a notice to the rule's creator. Returns the notices, to be published. */
export const suspendFailingEndpoints = async (
  dependencies: SuspensionDependencies,
): Promise<readonly QueuedDelivery[]> => {
  const notices: QueuedDelivery[] = [];
  for (const failing of await findEndpointsToSuspend(dependencies.pool, ENDPOINTS_PER_RUN)) {
    notices.push(...(await suspend(dependencies, failing)));
  }
  return notices;
};
