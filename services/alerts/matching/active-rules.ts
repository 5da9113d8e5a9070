import type { AlertTrigger } from '#contracts/values/alerts.ts';
import { type AlertRule, type AlertRuleState, isActive } from '#domain/workspace/alert/rule-decider.ts';

/** Index of alert rules at one log position, by id and by brand. */
export type ActiveRules = {
  get(alertId: string): AlertRuleState;
  set(alertId: string, rule: AlertRuleState): void;
  /** Returns the enabled rules of a brand that fire on this trigger. */
  firing(brandId: string, trigger: AlertTrigger): readonly AlertRule[];
};

export const createActiveRules = (rules: Iterable<AlertRule>): ActiveRules => {
  const byId = new Map<string, AlertRule>();
  const byBrand = new Map<string, Set<string>>();
  const set = (alertId: string, rule: AlertRuleState): void => {
    for (const brandId of byId.get(alertId)?.brand_ids ?? []) byBrand.get(brandId)?.delete(alertId);
    byId.delete(alertId);
    if (rule === null || rule.status === 'deleted') return;
    byId.set(alertId, rule);
    for (const brandId of rule.brand_ids) {
      const ids = byBrand.get(brandId) ?? new Set();
      byBrand.set(brandId, ids.add(alertId));
    }
  };
  for (const rule of rules) set(rule.alert_id, rule);
  return {
    get: (alertId) => byId.get(alertId) ?? null,
    set,
    firing: (brandId, trigger) =>
      [...(byBrand.get(brandId) ?? [])]
        .map((alertId) => byId.get(alertId))
        .filter((rule): rule is AlertRule => isActive(rule ?? null) && rule?.trigger === trigger),
  };
};
