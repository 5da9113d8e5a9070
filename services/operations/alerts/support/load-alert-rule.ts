import { alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import type { Alert } from '#contracts/resources/workspace/alert.ts';
import {
  type AlertRule,
  alertRule,
  type AlertRuleState,
  requireAlertRule,
  sendingChannelsOf,
} from '#domain/workspace/alert/rule-decider.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';

/**
 * Returns the state of an alert rule. Reads the log, not a read model: a rule just created is found, a deleted
 * one is not.
 */
export const readAlertRule = async (
  eventStore: EventStore,
  workspaceId: string,
  alertId: string,
): Promise<AlertRuleState> => {
  const { state } = await eventStore.load(alertRuleStream(workspaceId, alertId), alertRule);
  return state;
};

/** Returns an existing alert rule. Throws `Refusal` when there is none. */
export const requireRule = async (
  eventStore: EventStore,
  workspaceId: string,
  alertId: string,
): Promise<AlertRule> => requireAlertRule(await readAlertRule(eventStore, workspaceId, alertId));

/** Renders a written rule. The rows of the list have `chat` and `suspended` last, so their bytes differ. */
const recordOf = (rule: AlertRule): Alert => ({
  id: rule.alert_id,
  name: rule.name,
  trigger: rule.trigger,
  brand_ids: [...rule.brand_ids],
  cadence: rule.cadence,
  email: rule.email,
  webhook_url: rule.webhook_url,
  chat: rule.chat && { host: rule.chat.host },
  enabled: rule.enabled,
  sends_on: [...sendingChannelsOf(rule)],
  suspended: [rule.suspended.webhook, rule.suspended.chat].filter((one) => one !== null),
  created_by: rule.member_id,
  created_at: rule.created_at,
  updated_at: rule.updated_at,
});

/**
 * Returns the reply text of a written rule. `webhook_secret` is `null` except in the one reply that shows it.
 */
export const writtenAlertText = (rule: AlertRule, webhook_secret: string | null): string =>
  JSON.stringify({ ...recordOf(rule), webhook_secret });
