import { LRUCache } from 'lru-cache';
import { type AlertDeliveryEvent, alertDeliveryStream } from '#contracts/events/workspace/alert-delivery.ts';
import { type AlertRuleEvent, alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { alertRule, type AlertRuleState, sendingChannelsOf } from '#domain/workspace/alert/rule-decider.ts';
import type { NewDelivery } from '#application/delivery-outbox/enqueue.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';

/** Rules whose delivery history is cached during a replay. */
const CACHED_RULES_MAX = 200;
/** Deliveries in the cache, about 200 bytes each. A rule with more is cached alone. */
const CACHED_DELIVERIES_MAX = 100_000;

/** The revision is that of the `DeliveryQueued` while the delivery is open. */
type LoggedDelivery = bigint | 'finished';

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

/** Returns true for finished deliveries, by id. */
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

/** Reads the stream twice, because most deliveries are finished and payloads are too large to keep all. */
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
  for await (const { type, data, unreadable, revision } of eventStore.read<AlertDeliveryEvent>(stream)) {
    if (unreadable !== undefined || type !== 'DeliveryQueued') continue;
    if (outcomes.get(data.delivery_id) === false) deliveries.set(data.delivery_id, revision);
  }
  return { rule, deliveries };
};

/** `null` when the log does not have the payload whole. */
const readPayload = async (
  eventStore: EventStore,
  stream: string,
  revision: bigint,
): Promise<AlertPayload | null> => {
  for await (const { type, data } of eventStore.read<AlertDeliveryEvent>(stream, revision - 1n)) {
    return type === 'DeliveryQueued' && data.payload_sha256 === undefined ? data.payload : null;
  }
  return null;
};

/** Looks ahead in the log during a replay, to avoid sending finished deliveries again. */
export type ReplayGuard = {
  /** Returns the state at the end of the log. */
  rule(workspaceId: string, alertId: string): Promise<AlertRuleState>;
  /**
   * Omits deliveries that the log shows as finished, or whose channel is off at its end. An open one keeps its original
   * payload if the log has that whole.
   */
  open(deliveries: readonly NewDelivery[]): Promise<readonly NewDelivery[]>;
};

export const createReplayGuard = (eventStore: EventStore): ReplayGuard => {
  const cache = new LRUCache<string, RuleHistory>({
    max: CACHED_RULES_MAX,
    maxSize: CACHED_DELIVERIES_MAX,
    sizeCalculation: ({ deliveries }) => Math.min(CACHED_DELIVERIES_MAX, deliveries.size + 1),
  });
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
        const stream = alertDeliveryStream(delivery.workspaceId, delivery.alertId);
        const payload = logged === undefined ? null : await readPayload(eventStore, stream, logged);
        open.push(payload === null ? delivery : { ...delivery, payload });
      }
      return open;
    },
  };
};
