import { type WebhookSecretIssued, webhookSecretStream } from '#contracts/events/workspace/webhook-secret.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { type SecretVault, WEBHOOK_SECRET_OWNER } from './secret-vault.ts';

const WORKSPACES_PER_RUN = 100;

/**
 * Deletes secrets that a command stored but did not record: without the log, senders need the only one of a workspace.
 * Named and young secrets stay. Throws when the log does not answer.
 */
export const forgetUnusedSecrets = async (eventStore: EventStore, vault: SecretVault): Promise<void> => {
  for (const workspaceId of await vault.withSeveral(WEBHOOK_SECRET_OWNER, WORKSPACES_PER_RUN)) {
    const issued = await eventStore.last<WebhookSecretIssued>(webhookSecretStream(workspaceId));
    await vault.forget(workspaceId, WEBHOOK_SECRET_OWNER, issued?.data.fingerprint ?? '');
  }
};
