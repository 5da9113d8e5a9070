import { deliveryIdOf } from '#domain/workspace/alert/match-events.ts';
import { alertPayload, type DeliveryContent } from '#domain/workspace/alert/payload.ts';
import { sendingChannelsOf } from '#domain/workspace/alert/rule-decider.ts';
import type { NewDelivery } from '#application/delivery-outbox/enqueue.ts';
import { targetOfRule } from '#application/delivery-outbox/target.ts';
import type { Match } from './matching/match-events.ts';

/** One delivery for each channel on which the rule was sending at that log position. */
export const deliveriesOf = (
  { rule, kind, cause, period, at }: Match,
  matched: DeliveryContent,
  now: Date,
): readonly NewDelivery[] =>
  sendingChannelsOf(rule).flatMap((channel) => {
    const target = targetOfRule(rule, channel);
    if (!target) return [];
    const deliveryId = deliveryIdOf(rule.alert_id, channel, cause);
    return {
      deliveryId,
      workspaceId: rule.workspace_id,
      alertId: rule.alert_id,
      kind,
      target,
      payload: alertPayload({ delivery_id: deliveryId, kind, rule, matched, period, at }),
      queuedAt: now.toISOString(),
    };
  });
