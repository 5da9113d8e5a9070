import { LRUCache } from 'lru-cache';
import { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import type { ChatChannel } from '#platform/channels/chat.ts';
import type { EmailChannel } from '#platform/channels/email.ts';
import type { SendOutcome } from '#platform/channels/send-outcome.ts';
import { type WebhookChannel, type WebhookKeys, webhookKeysOf } from '#platform/channels/webhook.ts';
import type { ClaimedDelivery } from '#application/delivery-outbox/claim.ts';
import { traceOf } from '#application/delivery-outbox/trace-context.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { inSpan, isTracing } from '#platform/telemetry/tracing.ts';

/** A rotated secret is not used any more and drops out of the cache. */
const KEYS_MAX = 10_000;

/** `cancelled`: the delivery has no recipient any more. */
export type Sent = SendOutcome | { readonly cancelled: string };

export type Send = (delivery: ClaimedDelivery) => Promise<Sent>;

export type SenderDependencies = {
  readonly webhook: WebhookChannel;
  readonly chat: ChatChannel;
  readonly email: EmailChannel;
  /** `null` when the member has no address any more. */
  readonly emailAddress: (workspaceId: string, memberId: string) => Promise<string | null>;
  readonly signingSecret: (workspaceId: string) => Promise<string | null>;
  /** `null` when the address with this fingerprint was removed. */
  readonly chatAddress: (workspaceId: string, alertId: string, fingerprint: string) => Promise<string | null>;
};

const payloadOf = ({ payload }: ClaimedDelivery): AlertPayload =>
  AlertPayload.parse(JSON.parse(payload.toString('utf8')));

/** Secrets and addresses are read right before sending and not stored. */
export const openSenders = (dependencies: SenderDependencies): Send => {
  const keys = new LRUCache<string, WebhookKeys>({ max: KEYS_MAX });
  const keysOf = (secret: string): WebhookKeys => {
    const cached = keys.get(secret);
    if (cached) return cached;
    const created = webhookKeysOf(secret);
    keys.set(secret, created);
    return created;
  };

  return async (delivery) => {
    const { workspaceId, alertId, deliveryId, target, payload } = delivery;
    switch (target.channel) {
      case 'webhook': {
        const secret = await dependencies.signingSecret(workspaceId);
        if (secret === null) return { cancelled: 'The workspace has no signing secret.' };
        return dependencies.webhook.sendOnce({ url: target.url, deliveryId, keys: keysOf(secret) }, payload);
      }
      case 'chat': {
        const url = await dependencies.chatAddress(workspaceId, alertId, target.fingerprint);
        if (url === null) return { cancelled: 'The address of the chat channel was removed.' };
        return dependencies.chat.sendOnce({ url }, payloadOf(delivery));
      }
      case 'email': {
        const to = await dependencies.emailAddress(workspaceId, target.member_id);
        if (to === null) return { cancelled: 'The member no longer has an e-mail address.' };
        return dependencies.email.sendOnce({ to, deliveryId }, payloadOf(delivery));
      }
    }
  };
};

/** Continues the trace in which the delivery was queued. */
export const tracedSend = (pool: Database, send: Send): Send => {
  if (!isTracing()) return send;
  return async (delivery) => {
    const { deliveryId, target, attempts, workspaceId } = delivery;
    const parent = await traceOf(pool, deliveryId);
    const attributes = { delivery_id: deliveryId, attempt: attempts + 1, workspace_id: workspaceId };
    return inSpan(`send ${target.channel}`, { kind: 'client', parent, attributes }, async (span) => {
      const sent = await send(delivery);
      span?.set('cancelled' in sent ? { outcome: 'cancelled' } : { delivered: sent.delivered });
      return sent;
    });
  };
};
