import type { AlertCadence, AlertTrigger, EndpointChannel, QuietHours } from '#contracts/values/alerts.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `alertRule-<workspaceId>+<alertId>`: one rule, from creation to deletion. */
export const ALERT_RULE = 'alertRule';
export const alertRuleStream = (workspaceId: string, alertId: string): string =>
  `${ALERT_RULE}-${workspaceId}+${alertId}`;

/** Address with its own secret, stored encrypted outside the log under its fingerprint (hexadecimal SHA-256). */
export type SealedAddress = { readonly host: string; readonly fingerprint: string };

export type AlertRuleSettings = {
  readonly name: string;
  readonly trigger: AlertTrigger;
  readonly brand_ids: readonly string[];
  readonly cadence: AlertCadence;
  /** Sends e-mail to the member who created the rule. */
  readonly email: boolean;
  readonly webhook_url: string | null;
  readonly chat: SealedAddress | null;
  readonly enabled: boolean;
  /** Least number of items of a message. This and the next two are absent or null without a limit. */
  readonly threshold?: number | null;
  readonly quiet_hours?: QuietHours | null;
  readonly max_per_day?: number | null;
};

type RuleKey = { readonly workspace_id: string; readonly alert_id: string };

export type AlertRuleCreated = Event<
  'AlertRuleCreated',
  RuleKey & AlertRuleSettings & { readonly member_id: string; readonly created_at: string }
>;

/** `changes` includes a repeated `enabled` or channel address that ended a suspension. */
export type AlertRuleChanged = Event<
  'AlertRuleChanged',
  RuleKey & { readonly changes: Partial<AlertRuleSettings>; readonly changed_at: string }
>;

export type Suspension = {
  readonly channel: EndpointChannel;
  readonly failing_since: string;
  readonly suspended_at: string;
};

/** The service stopped sending on one channel; the others continue. */
export type AlertChannelSuspended = Event<'AlertChannelSuspended', RuleKey & Suspension>;

/** Older event type: one failing channel disabled the whole rule. */
export type AlertRuleSuspended = Event<'AlertRuleSuspended', RuleKey & Suspension>;

export type AlertRuleDeleted = Event<'AlertRuleDeleted', RuleKey & { readonly deleted_at: string }>;

export type AlertRuleEvent =
  | AlertRuleCreated
  | AlertRuleChanged
  | AlertChannelSuspended
  | AlertRuleSuspended
  | AlertRuleDeleted;

export const alertRuleVersions: EventVersions<AlertRuleEvent> = {
  AlertRuleCreated: [],
  AlertRuleChanged: [],
  AlertChannelSuspended: [],
  AlertRuleSuspended: [],
  AlertRuleDeleted: [],
};
