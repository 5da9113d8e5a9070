import type { AlertChannel, DeliveryKind } from '#contracts/values/alerts.ts';
import { alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import { alertRule, type AlertRuleState, sendingChannelsOf } from '#domain/workspace/alert/rule-decider.ts';
import type { DeliveryTarget } from '#application/delivery-outbox/target.ts';
import { targetOfRule } from '#application/delivery-outbox/target.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** A replayed delivery goes to the current target of its rule. */

export const readRule = async (
  eventStore: EventStore,
  workspaceId: string,
  alertId: string,
): Promise<AlertRuleState> => {
  const { state } = await eventStore.load(alertRuleStream(workspaceId, alertId), alertRule);
  return state;
};

/** Returns `null` when the rule is off or deleted, or its channel was removed or is suspended. */
export const currentTarget = (
  rule: AlertRuleState,
  { channel, kind }: { readonly channel: AlertChannel; readonly kind: DeliveryKind },
): DeliveryTarget | null => {
  // A notice goes to the creator of the rule, even when the rule is off.
  if (!rule || rule.status === 'deleted') return null;
  const isSent = kind === 'notice' || sendingChannelsOf(rule).includes(channel);
  return isSent ? targetOfRule(rule, channel) : null;
};

type Row = {
  readonly delivery_id: string;
  readonly workspace_id: string;
  readonly alert_id: string;
  readonly channel: AlertChannel;
  readonly kind: DeliveryKind;
};

export type CurrentTargets = {
  readonly targets: ReadonlyMap<string, DeliveryTarget>;
  readonly withoutTarget: readonly string[];
};

export const findCurrentTargets = async (
  { pool, eventStore }: { readonly pool: Database; readonly eventStore: EventStore },
  deliveryIds: readonly string[],
): Promise<CurrentTargets> => {
  const { rows } = await pool.query<Row>(
    `select delivery_id, workspace_id, alert_id, channel, kind from delivery.delivery
     where delivery_id = any($1::uuid[])`,
    [deliveryIds],
  );
  const targets = new Map<string, DeliveryTarget>();
  const withoutTarget: string[] = [];
  for (const [alertId, ofRule] of Map.groupBy(rows, ({ alert_id }) => alert_id)) {
    const rule = await readRule(eventStore, ofRule[0]?.workspace_id ?? '', alertId);
    for (const row of ofRule) {
      const target = currentTarget(rule, row);
      if (target) targets.set(row.delivery_id, target);
      else withoutTarget.push(row.delivery_id);
    }
  }
  return { targets, withoutTarget };
};
