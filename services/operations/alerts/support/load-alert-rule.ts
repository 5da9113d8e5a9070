import { alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import {
  type AlertRule,
  alertRule,
  type AlertRuleState,
  requireAlertRule,
} from '#domain/workspace/alert/rule-decider.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';

/** Reads the log, so that it finds a rule that was just created. */
export const readAlertRule = async (
  eventStore: EventStore,
  workspaceId: string,
  alertId: string,
): Promise<AlertRuleState> => {
  const { state } = await eventStore.load(alertRuleStream(workspaceId, alertId), alertRule);
  return state;
};

/** Throws `Refusal` for a missing or deleted rule. */
export const requireRule = async (
  eventStore: EventStore,
  workspaceId: string,
  alertId: string,
): Promise<AlertRule> => requireAlertRule(await readAlertRule(eventStore, workspaceId, alertId));
