import type { SendOutcome } from '../channels/outcome.ts';
import type { Transaction } from '../postgres.ts';
import { enqueue, type NewDelivery } from './enqueue.ts';
import { settle } from './settle.ts';

export type SentDelivery = NewDelivery & { readonly attemptedAt: string; readonly sent: SendOutcome };

/**
 * Writes down deliveries that were sent already, once and with no further attempt, as the `test` operation does:
 * they are in the history like any other and never in the queue.
 */
export const recordSent = async (client: Transaction, deliveries: readonly SentDelivery[]): Promise<void> => {
  await enqueue(client, deliveries);
  await settle(
    client,
    deliveries.map(({ deliveryId, workspaceId, alertId, target, attemptedAt, sent }) => ({
      deliveryId,
      workspaceId,
      alertId,
      channel: target.channel,
      attempt: 1,
      attemptedAt,
      outcome: sent.delivered ? ('delivered' as const) : ('failed' as const),
      nextAttemptAt: null,
      sent,
    })),
  );
};
