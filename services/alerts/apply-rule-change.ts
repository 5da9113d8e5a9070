import { AlertChannel } from '#contracts/values/alerts.ts';
import {
  type AlertRule,
  type AlertRuleState,
  sendingChannelsOf,
} from '#domain/workspace/alert/rule-decider.ts';
import {
  cancelDeliveriesOfAlert,
  deleteDeliveriesOfAlert,
  retargetDeliveriesOfAlert,
  runToEnd,
  type Step,
} from '#application/delivery-outbox/cancel.ts';
import { resetFailureStreaks, SUSPENDED } from '#application/delivery-outbox/failing-endpoints.ts';
import { targetOfRule } from '#application/delivery-outbox/target.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import type { ReplayGuard } from './replay-guard.ts';

export type RuleChange = {
  readonly workspace_id: string;
  readonly alert_id: string;
  readonly after: AlertRuleState;
  readonly moved: readonly AlertChannel[];
  /** Their failure history is reset, because a member changed, added, resumed or removed them. */
  readonly renewed: readonly AlertChannel[];
};

const RULE_DELETED = 'The rule was deleted.';
const RULE_DISABLED = 'The rule was disabled.';
const CHANNEL_REMOVED = 'The channel was removed from the rule.';

const isSameTarget = (before: AlertRule, after: AlertRule, channel: AlertChannel): boolean =>
  JSON.stringify(targetOfRule(before, channel)) === JSON.stringify(targetOfRule(after, channel));

const isSuspended = (rule: AlertRuleState, channel: AlertChannel): boolean =>
  channel !== 'email' && rule !== null && rule.suspended[channel] !== null;

const cancelReason = (after: AlertRuleState, channel: AlertChannel): string => {
  if (!after || after.status === 'deleted') return RULE_DELETED;
  if (!after.enabled) return RULE_DISABLED;
  return isSuspended(after, channel) ? SUSPENDED : CHANNEL_REMOVED;
};

/** `null` when pending deliveries are not affected. */
export const detectRuleChange = (before: AlertRuleState, after: AlertRuleState): RuleChange | null => {
  if (before === null || after === null) return null;
  const { workspace_id, alert_id } = after;
  const sending = sendingChannelsOf(after);
  const sendingBefore = sendingChannelsOf(before);
  const moved = sending.filter(
    (channel) => sendingBefore.includes(channel) && !isSameTarget(before, after, channel),
  );
  const changed = AlertChannel.options.filter(
    (channel) => moved.includes(channel) || sendingBefore.includes(channel) !== sending.includes(channel),
  );
  if (changed.length === 0 && after.status !== 'deleted') return null;
  // Omits a suspension: the delivery process resets these failures itself, once it has queued the notice.
  const renewed = changed.filter((channel) => !isSuspended(after, channel));
  return { workspace_id, alert_id, after, moved, renewed };
};

/**
 * In a replay deliveries of later matches are already pending, so only the final state of the rule decides about them.
 */
export const toFinalRuleState =
  (replayGuard: ReplayGuard) =>
  async ({ workspace_id, alert_id }: RuleChange): Promise<RuleChange> => {
    const after = await replayGuard.rule(workspace_id, alert_id);
    const moved = sendingChannelsOf(after).filter((channel) => channel !== 'email');
    return { workspace_id, alert_id, after, moved, renewed: [] };
  };

const stepsOf = ({ workspace_id, alert_id, after, moved }: RuleChange, now: Date): readonly Step[] => {
  if (after?.status === 'deleted') return [deleteDeliveriesOfAlert(alert_id)];
  const sending = sendingChannelsOf(after);
  const stopped = AlertChannel.options.filter((channel) => !sending.includes(channel));
  const byReason = Map.groupBy(stopped, (channel) => cancelReason(after, channel));
  const targets = moved.flatMap((channel) => (after && targetOfRule(after, channel)) ?? []);
  return [
    ...[...byReason].map(([reason, channels]) => cancelDeliveriesOfAlert(alert_id, channels, reason, now)),
    ...targets.map((target) => retargetDeliveriesOfAlert(workspace_id, alert_id, target)),
  ];
};

/**
 * Handles the deliveries of the rule so far, each page in its own transaction, so that the last one is short. A kill
 * between them repeats the change, which leaves alone what is done.
 */
export const prepareRuleChange = async (database: Database, change: RuleChange, now: Date): Promise<void> => {
  for (const step of stepsOf(change, now)) while (await inTransaction(database, step));
};

/** Also removes the delivery history of a deleted rule. */
export const applyRuleChange = async (client: Transaction, change: RuleChange, now: Date): Promise<void> => {
  const { alert_id, after, renewed } = change;
  if (after?.status !== 'deleted' && renewed.length > 0) await resetFailureStreaks(client, alert_id, renewed);
  for (const step of stepsOf(change, now)) await runToEnd(client, step);
};
