import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';

/** Where a delivery goes. Addresses that are secrets, or persons', are named here and looked up when it is sent. */
export const DeliveryTarget = z.discriminatedUnion('channel', [
  z.strictObject({ channel: z.literal('webhook'), url: z.string() }),
  /** The fingerprint of `SealedAddress` in `contracts/events/workspace/alert-rule.ts`. */
  z.strictObject({ channel: z.literal('chat'), fingerprint: z.string() }),
  z.strictObject({ channel: z.literal('email'), member_id: z.string() }),
]);
export type DeliveryTarget = z.infer<typeof DeliveryTarget>;

/** Few endpoints get most of what is sent. */
const READ_MAX = 10_000;
const read = new LRUCache<string, DeliveryTarget>({ max: READ_MAX });

/** A target as it is stored. */
export const readTarget = (text: string): DeliveryTarget => {
  const known = read.get(text);
  if (known) return known;
  const target = DeliveryTarget.parse(JSON.parse(text));
  read.set(text, target);
  return target;
};

const KEY_CHARACTERS = 20;

/** The key under which deliveries to the same place share limits. All e-mail goes through one server. */
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
