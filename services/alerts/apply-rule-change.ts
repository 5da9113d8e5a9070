import { AlertChannel } from '#contracts/values/alerts.ts';
import {
  type AlertRule,
  type AlertRuleState,
  sendingChannelsOf,
} from '#domain/workspace/alert/rule-decider.ts';
import { cancelOfAlert, forgetAlert, retargetOfAlert } from '#application/delivery-outbox/cancel.ts';
import { forgetFailures, SUSPENDED } from '#application/delivery-outbox/failing-endpoints.ts';
import { targetOfRule } from '#application/delivery-outbox/rule-target.ts';
import type { Transaction } from '#platform/postgres/pool.ts';
import type { Past } from './replay-guard.ts';

/** A rule that changed so that what it has still to send is concerned. */
export type Amendment = {
  readonly workspace_id: string;
  readonly alert_id: string;
  readonly after: AlertRuleState;
  /** Channels that lead somewhere else now. */
  readonly moved: readonly AlertChannel[];
  /** Channels whose failures so far say nothing of them any more: a member moved, added, resumed or removed them. */
  readonly renewed: readonly AlertChannel[];
};

const GONE = 'The rule was deleted.';
const OFF = 'The rule was disabled.';
const CHANNEL_GONE = 'The channel was removed from the rule.';

const isSameTarget = (before: AlertRule, after: AlertRule, channel: AlertChannel): boolean =>
  JSON.stringify(targetOfRule(before, channel)) === JSON.stringify(targetOfRule(after, channel));

const isSuspended = (rule: AlertRuleState, channel: AlertChannel): boolean =>
  channel !== 'email' && rule !== null && rule.suspended[channel] !== null;

/** Why what waits on a channel that `after` does not send on is cancelled. */
const reasonOf = (after: AlertRuleState, channel: AlertChannel): string => {
  if (!after || after.status === 'deleted') return GONE;
  if (!after.enabled) return OFF;
  return isSuspended(after, channel) ? SUSPENDED : CHANNEL_GONE;
};

/** `null`: whatever waits goes on as it is. */
export const amendmentOf = (before: AlertRuleState, after: AlertRuleState): Amendment | null => {
  if (before === null || after === null) return null;
  const { workspace_id, alert_id } = after;
  const kept = sendingChannelsOf(after);
  const had = sendingChannelsOf(before);
  const moved = kept.filter((channel) => had.includes(channel) && !isSameTarget(before, after, channel));
  const changed = AlertChannel.options.filter(
    (channel) => moved.includes(channel) || had.includes(channel) !== kept.includes(channel),
  );
  if (changed.length === 0 && after.status !== 'deleted') return null;
  // Of a suspension, `delivery` closes the failures itself, once the notice is queued.
  const renewed = changed.filter((channel) => !isSuspended(after, channel));
  return { workspace_id, alert_id, after, moved, renewed };
};

/**
 * While the log is gone through again, deliveries of later matches wait already, and only how the rule stands in the
 * end says what becomes of them.
 */
export const amendToEnd =
  (past: Past) =>
  async ({ workspace_id, alert_id }: Amendment): Promise<Amendment> => {
    const after = await past.rule(workspace_id, alert_id);
    const moved = sendingChannelsOf(after).filter((channel) => channel !== 'email');
    return { workspace_id, alert_id, after, moved, renewed: [] };
  };

/** Cancels, or sends elsewhere, what the rule has still to send. A deleted rule's history goes with it. */
export const amend = async (
  client: Transaction,
  { alert_id, after, moved, renewed }: Amendment,
  now: Date,
): Promise<void> => {
  if (after?.status === 'deleted') return forgetAlert(client, alert_id);
  const kept = sendingChannelsOf(after);
  const gone = AlertChannel.options.filter((channel) => !kept.includes(channel));
  if (renewed.length > 0) await forgetFailures(client, alert_id, renewed);
  for (const [reason, channels] of Map.groupBy(gone, (channel) => reasonOf(after, channel))) {
    await cancelOfAlert(client, alert_id, channels, reason, now);
  }
  if (!after) return;
  for (const channel of moved) {
    const target = targetOfRule(after, channel);
    if (target) await retargetOfAlert(client, alert_id, target);
  }
};
