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

/**
 * Command id of the secret's events. It differs from the command id of the request, because event ids are
 * derived from it and the request also appends events to another stream.
 */
const commandIdOf = ({ commandId }: SecretCall): string => derivedId('webhook secret', commandId);

/**
 * Returns the secret that an earlier attempt of the same command issued, so that a retry replies with it.
 * `null` when no earlier attempt issued one, or when the secret was rotated since.
 */
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
 * Stores a new secret in the vault, then appends its event. In this order every secret in the log can be
 * decrypted. `null` when the decision appended no event: the vault then forgets the secret again, because senders rely on
 * the only secret of a workspace while the log does not answer. It keeps the secret when the append fails, because the event
 * store may have taken it; a task of the delivery process deletes it later if not.
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
  // An earlier attempt that was recorded just now issued another one.
  if (events.length === 0 || state?.fingerprint !== fingerprint) {
    await requireVault(dependencies).forgetOne(workspace_id, WEBHOOK_SECRET_OWNER, fingerprint);
    return null;
  }
  const replaced = before?.fingerprint ?? null;
  return { text, issued_at: state.issued_at, rotated: replaced !== null, replaced, position };
};

/**
 * Issues the first signing secret of the workspace. `null` when it already has one, which is not shown again.
 */
export const issueFirstSecret = async (
  call: SecretCall,
  dependencies: OperationDependencies,
): Promise<string | null> => {
  const before = await findEarlierSecret(call, dependencies);
  if (before) return before.text;
  // Every rule with a webhook gets here, but only the first one needs a secret. The others create none.
  const existing = await dependencies.eventStore.last(webhookSecretStream(call.params.ws));
  if (existing) return null;
  return (await issueSecret(call, dependencies, issueFirstWebhookSecret))?.text ?? null;
};

/**
 * Replaces the signing secret. Waits until every sender has dropped its cached copy of the previous secret, and deletes
 * that one, so that no message is signed with it after the reply, also by a sender that cannot read the log.
 */
export const rotateSecret = async (
  call: SecretCall,
  dependencies: OperationDependencies,
): Promise<IssuedSecret> => {
  const { ws } = call.params;
  const earlier = await findEarlierSecret(call, dependencies);
  // Throws while the event store does not answer, before the vault gets a secret that no event names.
  if (!earlier) await dependencies.eventStore.last(webhookSecretStream(ws));
  const issued = earlier ?? (await issueSecret(call, dependencies, issueWebhookSecret));
  if (!issued) throw new Error('issueWebhookSecret appended no event');
  await pause(ROTATION_WAIT_MS);
  const vault = requireVault(dependencies);
  if (issued.replaced !== null) await vault.forgetOne(ws, WEBHOOK_SECRET_OWNER, issued.replaced);
  await vault.forget(ws, WEBHOOK_SECRET_OWNER, fingerprintOf(issued.text));
  return issued;
};
