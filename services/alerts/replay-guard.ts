import { LRUCache } from 'lru-cache';
import { type AlertDeliveryEvent, alertDeliveryStream } from '#contracts/events/workspace/alert-delivery.ts';
import { type AlertRuleEvent, alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { alertRule, type AlertRuleState, sendingChannelsOf } from '#domain/workspace/alert/rule-decider.ts';
import type { NewDelivery } from '#application/delivery-outbox/enqueue.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';

/** Rules whose past deliveries are held at once while the log is gone through again. */
const RULES_HELD_MAX = 200;

/** What the log says of a delivery: over, or still to be sent as it was queued. */
type PastDelivery = { readonly payload: AlertPayload } | 'over';

/** What the whole log says of a rule: how it stands in the end, and its deliveries. */
type PastOfRule = {
  readonly rule: AlertRuleState;
  readonly deliveries: ReadonlyMap<string, PastDelivery>;
};

const readPast = async (
  eventStore: EventStore,
  workspaceId: string,
  alertId: string,
): Promise<PastOfRule> => {
  let rule = alertRule.initial;
  for await (const event of eventStore.read<AlertRuleEvent>(alertRuleStream(workspaceId, alertId))) {
    rule = alertRule.evolve(rule, event);
  }
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

/** What the log says further on. It is asked only while the log is gone through for another time. */
export type Past = {
  /** How a rule stands in the end. */
  rule(workspaceId: string, alertId: string): Promise<AlertRuleState>;
  /**
   * The deliveries that are not over. One that is in the log was queued before: it goes out again only if nothing
   * there says how it ended, and with the very payload it was queued with. What the rule gives up later in the log is
   * not even begun.
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
