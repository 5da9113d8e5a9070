import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { AlertChannel } from '#contracts/values/alerts.ts';
import { alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import { type AlertRule, type AlertRuleState, alertRule } from '#domain/workspace/alert/rule-decider.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';

export const DeliveryTarget = z.discriminatedUnion('channel', [
  z.strictObject({ channel: z.literal('webhook'), url: z.string() }),
  /** The fingerprint of `SealedAddress` in `contracts/events/workspace/alert-rule.ts`. */
  z.strictObject({ channel: z.literal('chat'), fingerprint: z.string() }),
  z.strictObject({ channel: z.literal('email'), member_id: z.string() }),
]);
export type DeliveryTarget = z.infer<typeof DeliveryTarget>;

const READ_MAX = 10_000;
const parsedTargets = new LRUCache<string, DeliveryTarget>({ max: READ_MAX });

export const readTarget = (text: string): DeliveryTarget => {
  const cached = parsedTargets.get(text);
  if (cached) return cached;
  const target = DeliveryTarget.parse(JSON.parse(text));
  parsedTargets.set(text, target);
  return target;
};

const KEY_CHARACTERS = 20;

/** Begins the endpoint of each kind, such as `webhook:1f0c…`. */
export const ENDPOINT_PREFIX = { webhook: 'webhook:', chat: 'chat:', email: 'email:' } as const;

/**
 * Deliveries with the same key share limits. E-mail has one endpoint per workspace, so that none holds up others.
 */
export const endpointOf = (target: DeliveryTarget, workspaceId: string): string => {
  switch (target.channel) {
    case 'webhook': {
      const digest = createHash('sha256').update(target.url).digest('hex');
      return ENDPOINT_PREFIX.webhook + digest.slice(0, KEY_CHARACTERS);
    }
    case 'chat':
      return ENDPOINT_PREFIX.chat + target.fingerprint.slice(0, KEY_CHARACTERS);
    case 'email':
      return ENDPOINT_PREFIX.email + workspaceId;
  }
};

/** Reads the log, so that it finds a rule that was just created. */
export const readAlertRule = async (
  eventStore: EventStore,
  workspaceId: string,
  alertId: string,
): Promise<AlertRuleState> => {
  const { state } = await eventStore.load(alertRuleStream(workspaceId, alertId), alertRule);
  return state;
};

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
