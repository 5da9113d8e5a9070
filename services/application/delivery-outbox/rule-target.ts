import type { AlertChannel } from '#contracts/values/alerts.ts';
import type { AlertRule } from '#domain/workspace/alert/rule-decider.ts';
import type { DeliveryTarget } from './target.ts';

/** `null` when the rule does not use the channel or it is suspended. */
export const targetOfRule = (rule: AlertRule, channel: AlertChannel): DeliveryTarget | null => {
  if (channel !== 'email' && rule.suspended[channel] !== null) return null;
  switch (channel) {
    case 'email':
      return { channel, member_id: rule.member_id };
    case 'webhook':
      return rule.webhook_url === null ? null : { channel, url: rule.webhook_url };
    case 'chat':
      return rule.chat && { channel, fingerprint: rule.chat.fingerprint };
  }
};
