import { LRUCache } from 'lru-cache';
import { type AlertDeliveryEvent, alertDeliveryStream } from '#contracts/events/workspace/alert-delivery.ts';
import { alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { alertRule, type AlertRuleState, sendingChannelsOf } from '#domain/workspace/alert/rule-decider.ts';
import type { NewDelivery } from '#application/delivery-outbox/enqueue.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';

/** Maximum rules whose delivery history is cached during a replay. */
const RULES_HELD_MAX = 200;

/** State of a delivery in the log: finished, or still open with the payload it was queued with. */
type PastDelivery = { readonly payload: AlertPayload } | 'over';

/** Final state of a rule in the log, and its deliveries. */
type PastOfRule = {
  readonly rule: AlertRuleState;
  readonly deliveries: ReadonlyMap<string, PastDelivery>;
};

const readPast = async (
  eventStore: EventStore,
  workspaceId: string,
  alertId: string,
): Promise<PastOfRule> => {
  const { state: rule } = await eventStore.load(alertRuleStream(workspaceId, alertId), alertRule);
  const deliveries = new Map<string, PastDelivery>();
  const payloads = new Map<string, AlertPayload>();
  const stream = alertDeliveryStream(workspaceId, alertId);
  for await (const { type, data } of eventStore.read<AlertDeliveryEvent>(stream)) {
    const id = data.delivery_id;
    if (type === 'DeliveryQueued') payloads.set(id, data.payload);
    const payload = payloads.get(id);
    const isOver =
      type === 'DeliveryCancelled' || (type === 'DeliveryAttempted' && data.outcome !== 'retrying');
    if (isOver || payload === undefined) deliveries.set(id, 'over');
    else deliveries.set(id, { payload });
  }
  return { rule, deliveries };
};

/**
 * Looks ahead in the event log. Used only during a replay, to avoid sending deliveries that were already finished.
 */
export type Past = {
  /** Returns the rule's state at the end of the log. */
  rule(workspaceId: string, alertId: string): Promise<AlertRuleState>;
  /**
   * Returns the deliveries that are still open. A delivery found in the log was queued before: it is sent again
   * only if the log has no end of it, and then with its original payload. Deliveries are left out on channels on
   * which the rule does not send at the end of the log.
   */
  open(deliveries: readonly NewDelivery[]): Promise<readonly NewDelivery[]>;
};

export const openPast = (eventStore: EventStore): Past => {
  const held = new LRUCache<string, PastOfRule>({ max: RULES_HELD_MAX });
  const pastOf = async (workspaceId: string, alertId: string): Promise<PastOfRule> => {
    const past = held.get(alertId) ?? (await readPast(eventStore, workspaceId, alertId));
    held.set(alertId, past);
    return past;
  };
  return {
    rule: async (workspaceId, alertId) => (await pastOf(workspaceId, alertId)).rule,
    open: async (deliveries) => {
      const open: NewDelivery[] = [];
      for (const delivery of deliveries) {
        const past = await pastOf(delivery.workspaceId, delivery.alertId);
        const found = past.deliveries.get(delivery.deliveryId);
        const channels = sendingChannelsOf(past.rule);
        if (found === 'over' || !channels.includes(delivery.target.channel)) continue;
        open.push(found ? { ...delivery, payload: found.payload } : delivery);
      }
      return open;
    },
  };
};
