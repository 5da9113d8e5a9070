import { type WorkspaceEvent, workspaceStream } from '#contracts/events/workspace/workspace.ts';
import type { MemberVault } from '#application/vault/member-vault.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { createShortReads } from '#platform/event-store/short-reads.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { findNames } from '#projections/workspaces/read.ts';
import { LRUCache } from 'lru-cache';
import { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import type { ChatChannel } from '#platform/channels/chat.ts';
import type { EmailChannel } from '#platform/channels/email.ts';
import type { SendOutcome } from '#platform/channels/send-outcome.ts';
import { type WebhookChannel, type WebhookKeys, webhookKeysOf } from '#platform/channels/webhook.ts';
import type { ClaimedDelivery } from '#application/delivery-outbox/claim.ts';
import { traceOf } from '#application/delivery-outbox/trace-context.ts';
import { inSpan, isTracing } from '#platform/telemetry/tracing.ts';

const LOG_ANSWER_MS = 2_000;
const UNDEFINED_TABLE = '42P01';

/** Encrypted; `null` when the read model has none. */
const findSealed = async (pool: Database, workspaceId: string, memberId: string): Promise<string | null> => {
  const query = async <Row>({ sql, values }: { sql: string; values: readonly unknown[] }) =>
    (await pool.query(sql, [...values])).rows as readonly Row[];
  try {
    return (await findNames({ query, slow: query }, workspaceId, memberId))?.sealed ?? null;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== UNDEFINED_TABLE) throw error;
    return null;
  }
};

const readSealed = async (
  eventStore: EventStore,
  workspaceId: string,
  memberId: string,
): Promise<string | null> => {
  let sealed: string | null = null;
  for await (const { type, data } of eventStore.read<WorkspaceEvent>(workspaceStream(workspaceId))) {
    if (type === 'MemberAdded' && data.member_id === memberId) sealed = data.sealed ?? null;
    if (type === 'MemberErased' && data.member_id === memberId) sealed = null;
  }
  return sealed;
};

/**
 * Decrypts an address with the member's key right before sending; `null` when erased or without an address. An erasure
 * deletes the key before it replies, so an erased member gets no e-mail, however old the read model is. Throws when the
 * read model lacks the member and the log is silent.
 */
export const openEmailAddresses = (eventStore: EventStore, pool: Database, vault: MemberVault) => {
  const log = createShortReads(LOG_ANSWER_MS);
  const readFromLog = async (workspaceId: string, memberId: string): Promise<string | null> => {
    const asked = await log.ask(() => readSealed(eventStore, workspaceId, memberId));
    if (asked !== null) return asked.answer;
    throw new Error('The read model does not have the member, and the log does not answer.');
  };
  return async (workspaceId: string, memberId: string): Promise<string | null> => {
    const sealed =
      (await findSealed(pool, workspaceId, memberId)) ?? (await readFromLog(workspaceId, memberId));
    if (sealed === null) return null;
    return (await vault.open(workspaceId, memberId, sealed))?.email ?? null;
  };
};

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
