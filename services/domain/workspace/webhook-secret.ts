import type { WebhookSecretEvent } from '#contracts/events/workspace/webhook-secret.ts';
import { type Decider, jsonSnapshot } from '../decider.ts';

/** Aggregate webhook secret, stream `webhookSecret-<workspaceId>`: events hold only its fingerprint. */

/** `null` when no secret was issued. */
export type WebhookSecretState = { readonly fingerprint: string; readonly issued_at: string } | null;

const initial = null as WebhookSecretState;

const evolve = (_state: WebhookSecretState, event: WebhookSecretEvent): WebhookSecretState => {
  switch (event.type) {
    case 'WebhookSecretIssued':
      return { fingerprint: event.data.fingerprint, issued_at: event.data.issued_at };
  }
};

export const webhookSecret: Decider<WebhookSecretState, WebhookSecretEvent> = {
  initial,
  evolve,
  snapshot: jsonSnapshot(1),
};

type Secret = { readonly workspace_id: string; readonly fingerprint: string; readonly at: string };

export const issueWebhookSecret =
  ({ workspace_id, fingerprint, at }: Secret) =>
  (state: WebhookSecretState): readonly WebhookSecretEvent[] =>
    state?.fingerprint === fingerprint
      ? []
      : [{ type: 'WebhookSecretIssued', data: { workspace_id, fingerprint, issued_at: at } }];

export const issueFirstWebhookSecret =
  (secret: Secret) =>
  (state: WebhookSecretState): readonly WebhookSecretEvent[] =>
    state ? [] : issueWebhookSecret(secret)(state);
