import { apiKeysStream } from '#contracts/events/workspace/workspace.ts';
import { webhookSecretStream } from '#contracts/events/workspace/webhook-secret.ts';
import { Refusal } from '#contracts/errors.ts';
import { SCOPES_OF_ROLE } from '#contracts/values/access.ts';
import { TEST_WORLD } from '#contracts/values/test-world.ts';
import { apiKeys, issueApiKey } from '#domain/workspace/api-keys.ts';
import { issueWebhookSecret, webhookSecret } from '#domain/workspace/webhook-secret.ts';
import { addMember, createWorkspace } from '#domain/workspace/workspace.ts';
import { lastFourOf, sha256Of } from '#application/access/key-format.ts';
import { type SecretVault, WEBHOOK_SECRET_OWNER } from '#application/vault/secret-vault.ts';
import { type MemberDependencies, now, runAsOperator, runOnWorkspace } from './workspaces.ts';

const PLAN = 'pro';
const ROLE = 'owner';
/** Without a mail server e-mails are files; a real one finds no such recipient. */
const OWNER = { name: 'Demo owner', email: 'owner@demo.example' };

/**
 * Creates the workspace that the guide names, with its public key and signing secret. Idempotent: replaces a rotated
 * secret. Throws `not_yours` without `TEST_MODE`, where a public key must not exist, and `key_revoked`.
 */
export const openTestWorkspace = async (
  dependencies: MemberDependencies & { readonly testMode: boolean; readonly secretVault: SecretVault | null },
) => {
  const { testMode, memberVault, secretVault } = dependencies;
  if (!testMode) throw new Refusal('not_yours', 'Only an installation with TEST_MODE has a public key.');
  if (!memberVault || !secretVault)
    throw new Refusal('invalid_input', 'A test world stores secrets. Set MEMBER_VAULT_KEY.');
  const { workspace_id, member_id, key_id, api_key, webhook_secret } = TEST_WORLD;
  await runOnWorkspace(
    dependencies,
    workspace_id,
    createWorkspace({ workspace_id, name: 'Demo', plan: PLAN, at: now() }),
  );
  const sealed = await memberVault.seal(workspace_id, member_id, OWNER);
  await runOnWorkspace(
    dependencies,
    workspace_id,
    addMember({ workspace_id, member_id, name: '', sealed, role: ROLE, at: now() }),
  );
  const issue = issueApiKey({
    workspace_id,
    key_id,
    name: 'demo',
    sha256: sha256Of(api_key),
    last_four: lastFourOf(api_key),
    scopes: SCOPES_OF_ROLE[ROLE],
    grantable: SCOPES_OF_ROLE[ROLE],
    member_id,
    at: now(),
  });
  await runAsOperator(dependencies, workspace_id, apiKeysStream(workspace_id), apiKeys, ['api-keys'], issue);
  const fingerprint = await secretVault.seal(workspace_id, WEBHOOK_SECRET_OWNER, webhook_secret);
  const sign = issueWebhookSecret({ workspace_id, fingerprint, at: now() });
  await runAsOperator(dependencies, workspace_id, webhookSecretStream(workspace_id), webhookSecret, [], sign);
  return { workspace_id, member_id, api_key };
};
