import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `webhookSecret-<workspaceId>`. The secrets are stored encrypted outside the log. */
export const WEBHOOK_SECRET = 'webhookSecret';
export const webhookSecretStream = (workspaceId: string): string => `${WEBHOOK_SECRET}-${workspaceId}`;

/** Only this secret signs from now on. `fingerprint` is its SHA-256, hexadecimal. */
export type WebhookSecretIssued = Event<
  'WebhookSecretIssued',
  { readonly workspace_id: string; readonly fingerprint: string; readonly issued_at: string }
>;

export type WebhookSecretEvent = WebhookSecretIssued;

export const webhookSecretVersions: EventVersions<WebhookSecretEvent> = { WebhookSecretIssued: [] };
