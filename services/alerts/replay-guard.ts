import { LRUCache } from 'lru-cache';
import { type AlertDeliveryEvent, alertDeliveryStream } from '#contracts/events/workspace/alert-delivery.ts';
import { type AlertRuleEvent, alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { alertRule, type AlertRuleState, sendingChannelsOf } from '#domain/workspace/alert/rule-decider.ts';
import type { NewDelivery } from '#application/delivery-outbox/enqueue.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';

/** Maximum rules whose delivery history is cached during a replay. */
const CACHED_RULES_MAX = 200;

/** State of a delivery in the log: finished, or still open. `payload` is null when the log does not have it whole. */
type LoggedDelivery = { readonly payload: AlertPayload | null } | 'finished';

/** Final state of a rule in the log, and its deliveries. */
type RuleHistory = {
  readonly rule: AlertRuleState;
  readonly deliveries: ReadonlyMap<string, LoggedDelivery>;
};

const readRule = async (
  eventStore: EventStore,
  workspaceId: string,
  alertId: string,
): Promise<AlertRuleState> => {
  let rule: AlertRuleState = alertRule.initial;
  for await (const event of eventStore.read<AlertRuleEvent>(alertRuleStream(workspaceId, alertId))) {
    // The rest of the stream waits for a release that reads it; until then the rule is as it was before.
    if (event.unreadable !== undefined) break;
    rule = alertRule.evolve(rule, event);
  }
  return rule;
};

/** Returns the ids of the deliveries in the stream, and whether each is finished. */
const readOutcomes = async (eventStore: EventStore, stream: string): Promise<Map<string, boolean>> => {
  const isFinished = new Map<string, boolean>();
  for await (const { type, data, unreadable } of eventStore.read<AlertDeliveryEvent>(stream)) {
    if (unreadable !== undefined) {
      // Only a newer release knows what this event means, so the delivery counts as sent: never send it twice.
      const { delivery_id } = (data ?? {}) as Partial<AlertDeliveryEvent['data']>;
      if (delivery_id !== undefined) isFinished.set(delivery_id, true);
      continue;
    }
    const isEnd =
      type === 'DeliveryCancelled' || (type === 'DeliveryAttempted' && data.outcome !== 'retrying');
    isFinished.set(data.delivery_id, isEnd);
  }
  return isFinished;
};

/** Reads the stream twice: payloads are large, and most deliveries are finished. */
const readHistory = async (
  eventStore: EventStore,
  workspaceId: string,
  alertId: string,
): Promise<RuleHistory> => {
  const rule = await readRule(eventStore, workspaceId, alertId);
  const stream = alertDeliveryStream(workspaceId, alertId);
  const outcomes = await readOutcomes(eventStore, stream);
  // An open delivery whose `DeliveryQueued` is missing counts as finished.
  const deliveries = new Map<string, LoggedDelivery>([...outcomes.keys()].map((id) => [id, 'finished']));
  if (![...outcomes.values()].includes(false)) return { rule, deliveries };
  for await (const { type, data, unreadable } of eventStore.read<AlertDeliveryEvent>(stream)) {
    if (unreadable !== undefined || type !== 'DeliveryQueued') continue;
    if (outcomes.get(data.delivery_id) !== false) continue;
    const isWhole = data.payload_sha256 === undefined;
    deliveries.set(data.delivery_id, { payload: isWhole ? data.payload : null });
  }
  return { rule, deliveries };
};

/**
 * Looks ahead in the event log. Used only during a replay, to avoid sending deliveries that were already finished.
 */
export type ReplayGuard = {
  /** Returns the rule's state at the end of the log. */
  rule(workspaceId: string, alertId: string): Promise<AlertRuleState>;
  /**
   * Returns the deliveries that are still open. A delivery found in the log was queued before: it is sent again
   * only if the log has no end of it, and then with its original payload if the log has that whole. Deliveries are left out on channels on
   * which the rule does not send at the end of the log.
   */
  open(deliveries: readonly NewDelivery[]): Promise<readonly NewDelivery[]>;
};

export const createReplayGuard = (eventStore: EventStore): ReplayGuard => {
  const cache = new LRUCache<string, RuleHistory>({ max: CACHED_RULES_MAX });
  const historyOf = async (workspaceId: string, alertId: string): Promise<RuleHistory> => {
    const history = cache.get(alertId) ?? (await readHistory(eventStore, workspaceId, alertId));
    cache.set(alertId, history);
    return history;
  };
  return {
    rule: async (workspaceId, alertId) => (await historyOf(workspaceId, alertId)).rule,
    open: async (deliveries) => {
      const open: NewDelivery[] = [];
      for (const delivery of deliveries) {
        const history = await historyOf(delivery.workspaceId, delivery.alertId);
        const logged = history.deliveries.get(delivery.deliveryId);
        const channels = sendingChannelsOf(history.rule);
        if (logged === 'finished' || !channels.includes(delivery.target.channel)) continue;
        open.push(logged?.payload ? { ...delivery, payload: logged.payload } : delivery);
      }
      return open;
    },
  };
};
