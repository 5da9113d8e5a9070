import type { AlertCadence, AlertTrigger, EndpointChannel } from '#contracts/values/alerts.ts';
import type { Event } from '../event.ts';

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

export type AlertRuleCreated = Event<
  'AlertRuleCreated',
  Named & AlertRuleSettings & { readonly member_id: string; readonly created_at: string }
>;

/** Only what changed, and what was named again to end a suspension: `enabled`, or the channel's address. */
export type AlertRuleChanged = Event<
  'AlertRuleChanged',
  Named & { readonly changes: Partial<AlertRuleSettings>; readonly changed_at: string }
>;

export type Suspension = {
  readonly channel: EndpointChannel;
  /** Since then its endpoint has done nothing but fail. */
  readonly failing_since: string;
  readonly suspended_at: string;
};

/** The service gave up one channel. The others go on. */
export type AlertChannelSuspended = Event<'AlertChannelSuspended', Named & Suspension>;

/** As it was recorded when one failing channel still disabled the whole rule. */
export type AlertRuleSuspended = Event<'AlertRuleSuspended', Named & Suspension>;

/** With its delivery history. */
export type AlertRuleDeleted = Event<'AlertRuleDeleted', Named & { readonly deleted_at: string }>;

export type AlertRuleEvent =
  | AlertRuleCreated
  | AlertRuleChanged
  | AlertChannelSuspended
  | AlertRuleSuspended
  | AlertRuleDeleted;
