import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import type { Clock } from '../clock.ts';
import type { Egress } from '../egress/http-client.ts';
import { chatMessageOf } from './chat-message.ts';
import type { SendOutcome } from './send-outcome.ts';
import { postOnce } from './http-post.ts';

/**
 * Minimum milliseconds between two messages to one incoming webhook. The sender enforces it
 * (`application/delivery-outbox/rate-limit.ts`).
 */
export const CHAT_INTERVAL_MS = 1_000;

export type ChatChannel = {
  /** Makes one attempt to post to an incoming webhook of a chat tool. Its URL is a secret. Never rejects. */
  sendOnce(target: { readonly url: string }, payload: AlertPayload): Promise<SendOutcome>;
};

export const openChatChannel = (egress: Egress, clock: Clock): ChatChannel => ({
  sendOnce: ({ url }, payload) =>
    postOnce(egress, clock, {
      url,
      headers: ['content-type', 'application/json', 'user-agent', 'ad-intelligence-chat/1'],
      body: Buffer.from(JSON.stringify(chatMessageOf(payload)), 'utf8'),
    }),
});
