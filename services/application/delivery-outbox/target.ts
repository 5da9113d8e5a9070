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

/** Returns the endpoint key: deliveries with the same key share limits. All e-mail shares one mail server. */
export const endpointOf = (target: DeliveryTarget): string => {
  switch (target.channel) {
    case 'webhook': {
      const digest = createHash('sha256').update(target.url).digest('hex');
      return `webhook:${digest.slice(0, KEY_CHARACTERS)}`;
    }
    case 'chat':
      return `chat:${target.fingerprint.slice(0, KEY_CHARACTERS)}`;
    case 'email':
      return 'email';
  }
};
