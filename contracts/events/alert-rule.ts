import type { AlertCadence, AlertTrigger } from '../alerts.ts';
import type { Fact } from './fact.ts';

/** Stream `alertRule-<workspaceId>+<alertId>`: one rule, from creation to deletion. */
export const ALERT_RULE = 'alertRule';
export const alertRuleStream = (workspaceId: string, alertId: string): string =>
  `${ALERT_RULE}-${workspaceId}+${alertId}`;

/**
 * An address that carries its own secret, as a chat tool's incoming webhook does. The address itself is kept
 * encrypted outside the log under its fingerprint (SHA-256, hexadecimal).
 */
export type SealedAddress = { readonly host: string; readonly fingerprint: string };

/** Everything about a rule that its members may change. */
export type AlertRuleSettings = {
  readonly name: string;
  readonly trigger: AlertTrigger;
  readonly brand_ids: readonly string[];
  readonly cadence: AlertCadence;
  /** To the member who created the rule. */
  readonly email: boolean;
  readonly webhook_url: string | null;
  readonly chat: SealedAddress | null;
  readonly enabled: boolean;
};

type Named = { readonly workspace_id: string; readonly alert_id: string };

export type AlertRuleCreated = Fact<
  'AlertRuleCreated',
  Named & AlertRuleSettings & { readonly member_id: string; readonly created_at: string }
>;

/** Only what changed. */
export type AlertRuleChanged = Fact<
  'AlertRuleChanged',
  Named & { readonly changes: Partial<AlertRuleSettings>; readonly changed_at: string }
>;

/** The service disabled it: its endpoint has done nothing but fail since `failing_since`. */
export type AlertRuleSuspended = Fact<
  'AlertRuleSuspended',
  Named & {
    readonly channel: 'webhook' | 'chat';
    readonly failing_since: string;
    readonly suspended_at: string;
  }
>;

/** With its delivery history. */
export type AlertRuleDeleted = Fact<'AlertRuleDeleted', Named & { readonly deleted_at: string }>;

export type AlertRuleFact = AlertRuleCreated | AlertRuleChanged | AlertRuleSuspended | AlertRuleDeleted;
