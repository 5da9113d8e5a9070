import { type WebhookSecretIssued, webhookSecretStream } from '#contracts/events/workspace/webhook-secret.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { type SecretVault, WEBHOOK_SECRET_OWNER } from './secret-vault.ts';

/** Maximum workspaces per call. */
const WORKSPACES_PER_RUN = 100;

/**
 * Deletes signing secrets that a command stored and did not record, because the event store did not answer or the process
 * ended. While the log is gone, senders need the only secret of a workspace. A secret stays while the log names it, or while it
 * is so young that a command may be about to record it. Throws when the log does not answer.
 */
export const forgetUnusedSecrets = async (eventStore: EventStore, vault: SecretVault): Promise<void> => {
  for (const workspaceId of await vault.withSeveral(WEBHOOK_SECRET_OWNER, WORKSPACES_PER_RUN)) {
    const issued = await eventStore.last<WebhookSecretIssued>(webhookSecretStream(workspaceId));
    await vault.forget(workspaceId, WEBHOOK_SECRET_OWNER, issued?.data.fingerprint ?? '');
  }
};
