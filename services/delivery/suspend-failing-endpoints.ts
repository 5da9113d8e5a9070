import { ALERT_RULE, alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import type { EventMetadata } from '#contracts/events/event.ts';
import { type AlertRule, alertRule, suspendAlertChannel } from '#domain/workspace/alert/rule-decider.ts';
import { alertPayload } from '#domain/workspace/alert/payload.ts';
import { derivedId } from '#domain/ids.ts';
import type { Clock } from '#platform/clock.ts';
import { cancelOfAlert } from '#application/delivery-outbox/cancel.ts';
import { enqueue } from '#application/delivery-outbox/enqueue.ts';
import {
  closeFailing,
  endpointsToGiveUp,
  type FailingEndpoint,
  SUSPENDED,
} from '#application/delivery-outbox/failing-endpoints.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';

const ENDPOINTS_PER_LOOK = 100;
const SCHEMA_VERSION = 1;

export type SuspensionDependencies = {
  readonly pool: Database;
  readonly eventStore: EventStore;
  readonly clock: Clock;
  readonly log: Log;
};

/** One notice, whoever finds the endpoint, and however often. */
const noticeIdOf = ({ alertId, channel, since }: FailingEndpoint): string =>
  derivedId('suspension notice', `${alertId}|${channel}|${since.toISOString()}`);

const notify = async (
  client: Transaction,
  rule: AlertRule,
  failing: FailingEndpoint,
  at: string,
): Promise<readonly string[]> => {
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

const giveUp = async (
  { pool, eventStore, clock, log }: SuspensionDependencies,
  failing: FailingEndpoint,
): Promise<readonly string[]> => {
  const { alertId, workspaceId, channel } = failing;
  const at = clock.now();
  const failing_since = failing.since.toISOString();
  const commandId = derivedId('suspension', `${alertId}|${channel}|${failing_since}`);
  const metadata: EventMetadata = {
    $correlationId: commandId,
    $causationId: commandId,
    request_id: commandId,
    actor: { kind: 'service', id: 'delivery' },
    workspace_id: workspaceId,
    schema_version: SCHEMA_VERSION,
  };
  const { state } = await eventStore.decide({
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
  // Also when it was recorded by one who died before the rest. Of a channel that is off or gone nobody is told.
  const isOurs = state?.status === 'present' && state.suspended[channel]?.failing_since === failing_since;
  return inTransaction(pool, async (client) => {
    await closeFailing(client, failing, isOurs ? at : null);
    if (!isOurs) return [];
    await cancelOfAlert(client, alertId, [channel], SUSPENDED, at);
    log.info({ [ALERT_RULE]: alertId, channel, failing_since }, 'a channel was suspended');
    return notify(client, state, failing, at.toISOString());
  });
};

/**
 * Suspends channels whose endpoint has done nothing but fail for five days: the event, what is still to be sent on
 * them cancelled, and one notice to whoever created the rule. Answers the notices, to be published.
 */
export const giveUpEndpoints = async (dependencies: SuspensionDependencies): Promise<readonly string[]> => {
  const notices: string[] = [];
  for (const failing of await endpointsToGiveUp(dependencies.pool, ENDPOINTS_PER_LOOK)) {
    notices.push(...(await giveUp(dependencies, failing)));
  }
  return notices;
};
