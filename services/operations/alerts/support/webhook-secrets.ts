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
import { runWorkspaceCommand } from '#application/commands/command-handler.ts';
import type { Call } from '#operations/endpoint/define-endpoint.ts';
import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';
import { requireVault } from './validate-targets.ts';

type SecretCall = Call<{ readonly ws: string }, unknown, unknown>;

export type IssuedSecret = {
  readonly text: string;
  readonly issued_at: string;
  readonly rotated: boolean;
  readonly position: bigint | null;
};

/** Another than that of what the request records besides, since ids of events follow from it. */
const commandIdOf = ({ commandId }: SecretCall): string => derivedId('webhook secret', commandId);

/**
 * The secret that an earlier attempt of this very command issued, whose answer nobody got: then it is answered now.
 * `null` where there was none, or the secret was rotated since.
 */
const issuedBefore = async (
  call: SecretCall,
  dependencies: OperationDependencies,
): Promise<IssuedSecret | null> => {
  if (!call.mayRepeat) return null;
  const { ws } = call.params;
  const last = await dependencies.eventStore.last<WebhookSecretEvent>(webhookSecretStream(ws));
  if (last?.metadata.$causationId !== commandIdOf(call)) return null;
  const { fingerprint, issued_at } = last.data;
  const text = await requireVault(dependencies).open(ws, WEBHOOK_SECRET_OWNER, fingerprint);
  return text === null ? null : { text, issued_at, rotated: last.revision > 0n, position: last.position };
};

type Decide = typeof issueWebhookSecret;

/** Keeps a new secret in the vault first, so that whatever the log names can be opened. */
const issue = async (
  call: SecretCall,
  dependencies: OperationDependencies,
  decide: Decide,
): Promise<IssuedSecret | null> => {
  const { params, caller, requestId } = call;
  const workspace_id = params.ws;
  const text = createWebhookSecret();
  const fingerprint = fingerprintOf(text);
  await requireVault(dependencies).seal(workspace_id, WEBHOOK_SECRET_OWNER, text);
  let before = null as WebhookSecretState;
  const decision = decide({ workspace_id, fingerprint, at: dependencies.clock.now().toISOString() });
  const { state, events, position } = await runWorkspaceCommand(dependencies, {
    workspaceId: workspace_id,
    stream: webhookSecretStream(workspace_id),
    decider: webhookSecret,
    decision: (known) => {
      before = known;
      return decision(known);
    },
    actor: { kind: 'api_key', id: caller.keyId },
    requestId,
    commandId: commandIdOf(call),
    shownIn: [],
  });
  if (events.length === 0 || !state) return null;
  return { text, issued_at: state.issued_at, rotated: before !== null, position };
};

/** The workspace's first secret, or `null` where it has one, which is not shown again. */
export const issueFirstSecret = async (
  call: SecretCall,
  dependencies: OperationDependencies,
): Promise<string | null> => {
  const before = await issuedBefore(call, dependencies);
  if (before) return before.text;
  // Every rule with a webhook asks, and all but the first need nothing: no secret is made for them.
  const known = await dependencies.eventStore.last(webhookSecretStream(call.params.ws));
  if (known) return null;
  return (await issue(call, dependencies, issueFirstWebhookSecret))?.text ?? null;
};

/** A new secret in the place of any other; when it is answered, nobody signs with the one before. */
export const rotateSecret = async (
  call: SecretCall,
  dependencies: OperationDependencies,
): Promise<IssuedSecret> => {
  const issued =
    (await issuedBefore(call, dependencies)) ?? (await issue(call, dependencies, issueWebhookSecret));
  if (!issued) throw new Error('a new secret is always issued');
  await pause(ROTATION_WAIT_MS);
  const { ws } = call.params;
  await requireVault(dependencies).forget(ws, WEBHOOK_SECRET_OWNER, fingerprintOf(issued.text));
  return issued;
};
