import type { WebhookSecretEvent } from '#contracts/events/workspace/webhook-secret.ts';

/** Stream `webhookSecret-<workspaceId>`: which secret signs, by fingerprint; `null` while there is none. */
export type WebhookSecretState = { readonly fingerprint: string; readonly issued_at: string } | null;

const initial = null as WebhookSecretState;

const evolve = (_state: WebhookSecretState, event: WebhookSecretEvent): WebhookSecretState => {
  switch (event.type) {
    case 'WebhookSecretIssued':
      return { fingerprint: event.data.fingerprint, issued_at: event.data.issued_at };
  }
};

export const webhookSecret = { initial, evolve };

type Secret = { readonly workspace_id: string; readonly fingerprint: string; readonly at: string };

/** From here on this one signs, in the place of any other. */
export const issueWebhookSecret =
  ({ workspace_id, fingerprint, at }: Secret) =>
  (state: WebhookSecretState): readonly WebhookSecretEvent[] =>
    state?.fingerprint === fingerprint
      ? []
      : [{ type: 'WebhookSecretIssued', data: { workspace_id, fingerprint, issued_at: at } }];

/** A workspace that has a secret keeps it. */
export const issueFirstWebhookSecret =
  (secret: Secret) =>
  (state: WebhookSecretState): readonly WebhookSecretEvent[] =>
    state ? [] : issueWebhookSecret(secret)(state);
