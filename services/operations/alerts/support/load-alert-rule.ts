import { alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import {
  type AlertRule,
  alertRule,
  type AlertRuleState,
  requireAlertRule,
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
