import { type ErrorDetail, Refusal } from '#contracts/errors.ts';
import type { SealedAddress } from '#contracts/events/workspace/alert-rule.ts';
import { chatToolAt, UNKNOWN_CHAT_TOOL } from '#platform/channels/chat.ts';
import { checkTargetUrl } from '#platform/egress/check-target-url.ts';
import type { SecretVault } from '#application/vault/secret-vault.ts';
import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';

/** Target addresses of a request: absent, `null` to remove the target, or a URL. */
type RequestedTargets = {
  webhook_url?: string | null | undefined;
  chat_webhook_url?: string | null | undefined;
};

/** Returns the secret vault. Throws `Refusal` when none is configured (`MEMBER_VAULT_KEY`). */
export const requireVault = ({ secretVault }: OperationDependencies): SecretVault => {
  if (secretVault) return secretVault;
  throw new Refusal(
    'internal',
    'This installation stores no secrets and sends no webhooks. Its operator has to set MEMBER_VAULT_KEY.',
  );
};

/** Returns the canonical form of a URL, in printable characters. Text that is not a URL stays unchanged. */
const normalizeUrl = (url: string): string => (URL.canParse(url) ? new URL(url).href : url);

/**
 * Returns the targets in canonical form. Throws `Refusal` that names every address to which this service sends
 * nothing, such as a private network address, or an address of no supported chat tool.
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

/** Placeholder used while validating a rule, before its chat address is encrypted. */
export const PLACEHOLDER_ADDRESS: SealedAddress = { host: '', fingerprint: '' };

/**
 * Encrypts the address of a chat tool into the vault. Returns the parts that events may hold: host and
 * fingerprint. `null` without an address.
 */
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
