import { type AlertRuleEvent, alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import { AlertTrigger } from '#contracts/values/alerts.ts';
import {
  type AlertRule,
  alertRule,
  type AlertRuleState,
  isActive,
} from '#domain/workspace/alert/rule-decider.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { ActiveRules } from '../matching/active-rules.ts';

/** Each state holds from its log position on. */
type RuleStates = readonly { readonly position: bigint; readonly rule: AlertRuleState }[];

const readStates = async (
  eventStore: EventStore,
  { workspace_id, alert_id }: AlertRule,
): Promise<RuleStates> => {
  const states: { position: bigint; rule: AlertRuleState }[] = [];
  let rule: AlertRuleState = alertRule.initial;
  for await (const event of eventStore.read<AlertRuleEvent>(alertRuleStream(workspace_id, alert_id))) {
    if (event.unreadable !== undefined) break;
    rule = alertRule.evolve(rule, event);
    states.push({ position: event.position, rule });
  }
  return states;
};

const firesOn = (rule: AlertRuleState, brandId: string, trigger: AlertTrigger): boolean =>
  isActive(rule) && rule.trigger === trigger && rule.brand_ids.includes(brandId);

/** Present rules that also fired at the log position of `at`, so that a wait for a release adds no rules. */
export const readRulesThatFired = async (
  eventStore: EventStore,
  rules: ActiveRules,
  brandIds: readonly string[],
  at: () => bigint,
): Promise<ActiveRules> => {
  const candidates = new Map(
    brandIds
      .flatMap((brandId) => AlertTrigger.options.flatMap((trigger) => rules.firing(brandId, trigger)))
      .map((rule) => [rule.alert_id, rule]),
  );
  const histories = new Map<string, RuleStates>();
  for (const [alertId, rule] of candidates) histories.set(alertId, await readStates(eventStore, rule));
  const ruleThen = (alertId: string): AlertRuleState =>
    histories.get(alertId)?.findLast(({ position }) => position <= at())?.rule ?? null;
  return {
    ...rules,
    firing: (brandId, trigger) =>
      rules.firing(brandId, trigger).filter(({ alert_id }) => firesOn(ruleThen(alert_id), brandId, trigger)),
  };
};
