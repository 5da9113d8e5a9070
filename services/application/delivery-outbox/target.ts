import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';

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

/** One mail server has one limit. */
export const EMAIL_LEASE = 'email';
const EMAIL_PREFIX = `${EMAIL_LEASE}:`;

export const isEmailEndpoint = (endpoint: string): boolean => endpoint.startsWith(EMAIL_PREFIX);

/** A worker claims an endpoint's deliveries under this lease. */
export const leaseKeyOf = (endpoint: string): string => (isEmailEndpoint(endpoint) ? EMAIL_LEASE : endpoint);

export const leaseKeySql = (column: string): string =>
  `case when ${column} like '${EMAIL_PREFIX}%' then '${EMAIL_LEASE}' else ${column} end`;

/**
 * Deliveries with the same key share limits and a queue. E-mail has one per workspace, so that none holds up others.
 */
export const endpointOf = (target: DeliveryTarget, workspaceId: string): string => {
  switch (target.channel) {
    case 'webhook': {
      const digest = createHash('sha256').update(target.url).digest('hex');
      return `webhook:${digest.slice(0, KEY_CHARACTERS)}`;
    }
    case 'chat':
      return `chat:${target.fingerprint.slice(0, KEY_CHARACTERS)}`;
    case 'email':
      return EMAIL_PREFIX + workspaceId;
  }
};
