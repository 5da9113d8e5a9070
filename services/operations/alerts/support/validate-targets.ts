import { type ErrorDetail, Refusal } from '#contracts/errors.ts';
import type { SealedAddress } from '#contracts/events/workspace/alert-rule.ts';
import { chatToolAt, UNKNOWN_CHAT_TOOL } from '#platform/channels/chat.ts';
import { checkTargetUrl } from '#platform/egress/check-target-url.ts';
import type { SecretVault } from '#application/vault/secret-vault.ts';
import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';

type RequestedTargets = {
  webhook_url?: string | null | undefined;
  chat_webhook_url?: string | null | undefined;
};

/** Throws `Refusal` without `MEMBER_VAULT_KEY`. */
export const requireVault = ({ secretVault }: OperationDependencies): SecretVault => {
  if (secretVault) return secretVault;
  throw new Refusal(
    'internal',
    'This installation stores no secrets and sends no webhooks. Its operator has to set MEMBER_VAULT_KEY.',
  );
};

/** Returns the canonical URL; other text stays unchanged. */
const normalizeUrl = (url: string): string => (URL.canParse(url) ? new URL(url).href : url);

/**
 * Returns canonical targets. Throws `Refusal` for each forbidden address: a private network, or no supported chat tool.
 */
export const requireTargets = <Targets extends RequestedTargets>(
  requested: Targets,
  dependencies: OperationDependencies,
): Targets => {
  const { rules } = dependencies.alertChannels;
  const details: ErrorDetail[] = [];
  const targets = { ...requested };
  for (const name of ['webhook_url', 'chat_webhook_url'] as const) {
    const url = requested[name];
    if (typeof url !== 'string') continue;
    targets[name] = normalizeUrl(url);
    const fault =
      checkTargetUrl(url, rules) ??
      checkTargetUrl(normalizeUrl(url), rules) ??
      (name === 'chat_webhook_url' && chatToolAt(url, rules) === null ? UNKNOWN_CHAT_TOOL : null);
    if (fault !== null) details.push({ path: name, message: fault, code: 'target_refused' });
  }
  if (details.length > 0) throw new Refusal('invalid_input', 'The input was rejected; see details.', details);
  return targets;
};

/** Stands for a chat address while a rule is validated, before it is encrypted. */
export const PLACEHOLDER_ADDRESS: SealedAddress = { host: '', fingerprint: '' };

/** Encrypts a chat address into the vault. Events hold only its host and fingerprint. `null` without an address. */
export const sealAddress = async (
  dependencies: OperationDependencies,
  workspaceId: string,
  alertId: string,
  url: string | null,
): Promise<SealedAddress | null> => {
  if (url === null) return null;
  const fingerprint = await requireVault(dependencies).seal(workspaceId, alertId, url);
  return { host: new URL(url).host, fingerprint };
};
