import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';

/** Target of a delivery. Secret and personal addresses are stored as references and resolved when it is sent. */
export const DeliveryTarget = z.discriminatedUnion('channel', [
  z.strictObject({ channel: z.literal('webhook'), url: z.string() }),
  /** The fingerprint of `SealedAddress` in `contracts/events/workspace/alert-rule.ts`. */
  z.strictObject({ channel: z.literal('chat'), fingerprint: z.string() }),
  z.strictObject({ channel: z.literal('email'), member_id: z.string() }),
]);
export type DeliveryTarget = z.infer<typeof DeliveryTarget>;

/** Maximum parsed targets cached. A few targets receive most deliveries. */
const READ_MAX = 10_000;
const parsedTargets = new LRUCache<string, DeliveryTarget>({ max: READ_MAX });

/** Parses a stored target. Throws when it does not match the schema. */
export const readTarget = (text: string): DeliveryTarget => {
  const cached = parsedTargets.get(text);
  if (cached) return cached;
  const target = DeliveryTarget.parse(JSON.parse(text));
  parsedTargets.set(text, target);
  return target;
};

/** Characters of the digest in an endpoint key. */
const KEY_CHARACTERS = 20;

/**
 * Key of the lease for all e-mail: one mail server has one limit. It was the endpoint of all e-mail in earlier releases, whose
 * rows are sent as any others.
 */
export const EMAIL_LEASE = 'email';
const EMAIL_PREFIX = `${EMAIL_LEASE}:`;

/** True for endpoints of e-mail. */
export const isEmailEndpoint = (endpoint: string): boolean =>
  endpoint === EMAIL_LEASE || endpoint.startsWith(EMAIL_PREFIX);

/** Returns the key of the lease under which a worker claims deliveries of an endpoint. */
export const leaseKeyOf = (endpoint: string): string => (isEmailEndpoint(endpoint) ? EMAIL_LEASE : endpoint);

/** The same as an SQL expression of a column. */
export const leaseKeySql = (column: string): string =>
  `case when ${column} like '${EMAIL_PREFIX}%' then '${EMAIL_LEASE}' else ${column} end`;

/**
 * Returns the endpoint key: deliveries with the same key share limits and a queue. E-mail has one for each workspace, so that
 * many of one workspace do not hold up those of others.
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
