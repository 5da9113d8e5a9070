import { type WebhookSecretEvent, webhookSecretStream } from '#contracts/events/workspace/webhook-secret.ts';
import { derivedId } from '#domain/ids.ts';
import {
  issueFirstWebhookSecret,
  issueWebhookSecret,
  webhookSecret,
  type WebhookSecretState,
} from '#domain/workspace/webhook-secret.ts';
import { pause } from '#platform/clock.ts';
import { fingerprintOf, WEBHOOK_SECRET_OWNER } from '#application/vault/secret-vault.ts';
import { createWebhookSecret, ROTATION_WAIT_MS } from '#application/vault/signing-secrets.ts';
import type { Call } from '#operations/endpoint/define-endpoint.ts';
import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';
import { requireVault } from './validate-targets.ts';

type SecretCall = Call<{ readonly ws: string }, unknown, unknown>;

export type IssuedSecret = {
  readonly text: string;
  readonly issued_at: string;
  readonly rotated: boolean;
  /** Fingerprint of the secret before; `null` for the first one. */
  readonly replaced: string | null;
  readonly position: bigint | null;
};

/** Differs from the request's command id, because the request also derives event ids for another stream from it. */
const commandIdOf = ({ commandId }: SecretCall): string => derivedId('webhook secret', commandId);

/** Secret that an earlier attempt issued, for the reply of a retry; `null` without one, or after a rotation since. */
const findEarlierSecret = async (
  call: SecretCall,
  dependencies: OperationDependencies,
): Promise<IssuedSecret | null> => {
  if (!call.mayRepeat) return null;
  const { ws } = call.params;
  const stream = webhookSecretStream(ws);
  const [last, before] = await dependencies.eventStore.newest<WebhookSecretEvent>(stream, 2);
  if (last?.metadata.$causationId !== commandIdOf(call)) return null;
  const { fingerprint, issued_at } = last.data;
  const text = await requireVault(dependencies).open(ws, WEBHOOK_SECRET_OWNER, fingerprint);
  if (text === null) return null;
  const replaced = before?.data.fingerprint ?? null;
  return { text, issued_at, rotated: last.revision > 0n, replaced, position: last.position };
};

type Decide = typeof issueWebhookSecret;

/**
 * Stores the secret before its event, so that every secret in the log can be decrypted. `null` when no event was
 * appended: the vault then deletes it. Keeps it after a failed append, because the event store may hold the event; the
 * delivery process deletes it later if not.
 */
const issueSecret = async (
  call: SecretCall,
  dependencies: OperationDependencies,
  decide: Decide,
): Promise<IssuedSecret | null> => {
  const workspace_id = call.params.ws;
  const text = createWebhookSecret();
  const fingerprint = fingerprintOf(text);
  await requireVault(dependencies).seal(workspace_id, WEBHOOK_SECRET_OWNER, text);
  let before = null as WebhookSecretState;
  const decision = decide({ workspace_id, fingerprint, at: dependencies.clock.now().toISOString() });
  const { state, events, position } = await call.execute({
    stream: webhookSecretStream(workspace_id),
    decider: webhookSecret,
    decision: (current) => {
      before = current;
      return decision(current);
    },
    commandId: commandIdOf(call),
    shownIn: [],
  });
  // A concurrent attempt of the command has issued another secret.
  if (events.length === 0 || state?.fingerprint !== fingerprint) {
    await requireVault(dependencies).forgetOne(workspace_id, WEBHOOK_SECRET_OWNER, fingerprint);
    return null;
  }
  const replaced = before?.fingerprint ?? null;
  return { text, issued_at: state.issued_at, rotated: replaced !== null, replaced, position };
};

/** `null` when the workspace has a secret already, which is not shown again. */
export const issueFirstSecret = async (
  call: SecretCall,
  dependencies: OperationDependencies,
): Promise<string | null> => {
  const before = await findEarlierSecret(call, dependencies);
  if (before) return before.text;
  // Only the first rule with a webhook needs a new secret.
  const existing = await dependencies.eventStore.last(webhookSecretStream(call.params.ws));
  if (existing) return null;
  return (await issueSecret(call, dependencies, issueFirstWebhookSecret))?.text ?? null;
};

/** Waits until no sender caches the previous secret, and deletes it: none signs with it after the reply. */
export const rotateSecret = async (
  call: SecretCall,
  dependencies: OperationDependencies,
): Promise<IssuedSecret> => {
  const { ws } = call.params;
  const earlier = await findEarlierSecret(call, dependencies);
  // Throws without the event store, before the vault gets a secret that no event names.
  if (!earlier) await dependencies.eventStore.last(webhookSecretStream(ws));
  const issued = earlier ?? (await issueSecret(call, dependencies, issueWebhookSecret));
  if (!issued) throw new Error('issueWebhookSecret appended no event');
  await pause(ROTATION_WAIT_MS);
  const vault = requireVault(dependencies);
  if (issued.replaced !== null) await vault.forgetOne(ws, WEBHOOK_SECRET_OWNER, issued.replaced);
  await vault.forget(ws, WEBHOOK_SECRET_OWNER, fingerprintOf(issued.text));
  return issued;
};
