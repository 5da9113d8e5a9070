import { type KeyObject, createHmac, createSecretKey } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Egress } from '../egress/http-client.ts';
import type { SendOutcome } from './send-outcome.ts';
import { postOnce } from './http-post.ts';

const PREFIX = 'whsec_';

/**
 * `ours` is the whole `whsec_…` text (specification, "Events" 3), `standard` the decoded base64, as in Standard
 * Webhooks. Key objects sign five times as fast as bytes.
 */
export type WebhookKeys = { readonly ours: KeyObject; readonly standard: KeyObject };

export const webhookKeysOf = (secret: string): WebhookKeys => {
  if (!secret.startsWith(PREFIX)) throw new Error(`A webhook secret must begin with ${PREFIX}.`);
  return {
    ours: createSecretKey(Buffer.from(secret, 'utf8')),
    standard: createSecretKey(Buffer.from(secret.slice(PREFIX.length), 'base64')),
  };
};

/** HMAC-SHA-256 for both schemes. `body`: the exact bytes that are sent. */
export const signatureHeaders = (
  deliveryId: string,
  at: Date,
  body: Buffer,
  { ours, standard }: WebhookKeys,
): readonly string[] => {
  const timestamp = Math.floor(at.getTime() / 1_000).toString();
  const own = createHmac('sha256', ours).update(`${timestamp}.`).update(body).digest('hex');
  const shared = createHmac('sha256', standard)
    .update(`${deliveryId}.${timestamp}.`)
    .update(body)
    .digest('base64');
  return [
    'x-service-timestamp',
    timestamp,
    'x-service-signature',
    `v1=${own}`,
    'webhook-id',
    deliveryId,
    'webhook-timestamp',
    timestamp,
    'webhook-signature',
    `v1,${shared}`,
  ];
};

export type WebhookTarget = {
  readonly url: string;
  /** Sent as `webhook-id`: the same in every attempt. */
  readonly deliveryId: string;
  readonly keys: WebhookKeys;
};

export type WebhookChannel = {
  /** One attempt, signed with the current time. Never rejects. */
  sendOnce(target: WebhookTarget, payload: Buffer): Promise<SendOutcome>;
};

const CONSTANT_HEADERS = ['content-type', 'application/json', 'user-agent', 'ad-intelligence-webhooks/1'];

export const openWebhookChannel = (egress: Egress, clock: Clock): WebhookChannel => ({
  sendOnce: ({ url, deliveryId, keys }, payload) =>
    postOnce(egress, clock, {
      url,
      headers: [...CONSTANT_HEADERS, ...signatureHeaders(deliveryId, clock.now(), payload, keys)],
      body: payload,
    }),
});
