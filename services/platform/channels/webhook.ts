import type { Clock } from '../clock.ts';
import type { Egress } from '../egress/http-client.ts';
import type { SendOutcome } from './send-outcome.ts';
import { postOnce } from './http-post.ts';
import { signatureHeaders, type WebhookKeys } from './webhook-signature.ts';

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
