import type { AlertChannel } from '#contracts/alerts.ts';
import { deliveryIdOf } from '#domain/alert-matching.ts';
import { alertPayload, type Matched } from '#domain/alert-payload.ts';
import { type AlertRule, channelsOf } from '#domain/alert-rule.ts';
import type { NewDelivery } from '#platform/deliveries/enqueue.ts';
import type { DeliveryTarget } from '#platform/deliveries/target.ts';
import type { Match } from './match-facts.ts';

/** Where a rule's channel leads. */
export const targetOf = (rule: AlertRule, channel: AlertChannel): DeliveryTarget => {
  switch (channel) {
    case 'email':
      return { channel, member_id: rule.member_id };
    case 'webhook':
      return { channel, url: rule.webhook_url ?? '' };
    case 'chat':
      return { channel, fingerprint: rule.chat?.fingerprint ?? '' };
  }
};

/** A match as deliveries, one on each channel that its rule had there. */
export const deliveriesOf = (
  { rule, kind, cause, period, at }: Match,
  matched: Matched,
  now: Date,
): readonly NewDelivery[] =>
  channelsOf(rule).map((channel) => {
    const deliveryId = deliveryIdOf(rule.alert_id, channel, cause);
    return {
      deliveryId,
      workspaceId: rule.workspace_id,
      alertId: rule.alert_id,
      kind,
      target: targetOf(rule, channel),
      payload: alertPayload({ delivery_id: deliveryId, kind, rule, matched, period, at }),
      queuedAt: now.toISOString(),
    };
  });
