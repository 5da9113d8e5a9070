import { type WebhookSecretEvent, webhookSecretStream } from '#contracts/events/workspace/webhook-secret.ts';
import { derivedId } from '#domain/ids.ts';
import {
  type WebhookSecretState,
  issueWebhookSecret as decideToIssue,
  issueFirstWebhookSecret,
  webhookSecret,
} from '#domain/workspace/webhook-secret.ts';
import { pause } from '#platform/clock.ts';
import { type SecretVault, WEBHOOK_SECRET_OWNER, fingerprintOf } from '#application/vault/secret-vault.ts';
import { ROTATION_WAIT_MS, createWebhookSecret } from '#application/vault/signing-secrets.ts';
import { IssueWebhookSecret, IssuedWebhookSecret } from '#contracts/resources/workspace/alert.ts';
import { type Call, endpoint } from '../endpoint/define-endpoint.ts';
import type { OperationDependencies } from '../dependencies/dependencies.ts';
import { Refusal } from '#contracts/errors.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { workspaceWrite } from '../endpoint/kinds.ts';

/** Base64 of the bytes 0 to 31. */
export const WEBHOOK_SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';

/** Throws `Refusal` without `MEMBER_VAULT_KEY`. */
export const requireVault = ({ secretVault }: OperationDependencies): SecretVault => {
  if (secretVault) return secretVault;
  throw new Refusal(
    'internal',
    'This installation stores no secrets and sends no webhooks. Its operator has to set MEMBER_VAULT_KEY.',
  );
};

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

type Decide = typeof decideToIssue;

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
  const issued = earlier ?? (await issueSecret(call, dependencies, decideToIssue));
  if (!issued) throw new Error('the decision to issue a secret appended no event');
  await pause(ROTATION_WAIT_MS);
  const vault = requireVault(dependencies);
  if (issued.replaced !== null) await vault.forgetOne(ws, WEBHOOK_SECRET_OWNER, issued.replaced);
  await vault.forget(ws, WEBHOOK_SECRET_OWNER, fingerprintOf(issued.text));
  return issued;
};

export const issueWebhookSecret = endpoint({
  ...workspaceWrite,
  path: '/v1/workspaces/{ws}/alerts/webhook-secret',
  operationId: 'issueWebhookSecret',
  tag: 'Alerts',
  scope: 'alerts:write',
  summary: 'Create or rotate the webhook signing secret',
  description:
    'Takes an empty object as body. Only this reply shows the secret. From then on the previous secret signs nothing, not even retries of earlier deliveries.',
  body: { schema: IssueWebhookSecret, example: {} },
  reply: {
    status: 201,
    shape: 'record',
    data: IssuedWebhookSecret,
    example: {
      workspace_id: WORKSPACE_ID,
      webhook_secret: WEBHOOK_SECRET,
      rotated: true,
      created_at: '2026-11-20T09:30:00.000Z',
    },
  },
  reads: [],
  handler: async (call, dependencies) => {
    const { text, issued_at, rotated, position } = await rotateSecret(call, dependencies);
    const issued = { workspace_id: call.params.ws, webhook_secret: text, rotated, created_at: issued_at };
    return { data: JSON.stringify(issued), asOf: null, position, shownOnce: { keyId: null } };
  },
});
