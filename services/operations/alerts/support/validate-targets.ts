import { type ErrorDetail, Refusal } from '#contracts/errors.ts';
import type { SealedAddress } from '#contracts/events/workspace/alert-rule.ts';
import { checkTargetUrl } from '#platform/egress/check-target-url.ts';
import type { SecretVault } from '#application/vault/secret-vault.ts';
import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';

/** Addresses as they came: absent, `null` for none, or a URL. */
type GivenTargets = {
  webhook_url?: string | null | undefined;
  chat_webhook_url?: string | null | undefined;
};

/** Without a vault there is nowhere to keep a secret, and that is for the operator to mend. */
export const requireVault = ({ secretVault }: OperationDependencies): SecretVault => {
  if (secretVault) return secretVault;
  throw new Refusal(
    'internal',
    'This installation keeps no secrets, so it sends no webhooks: its operator has to set MEMBER_VAULT_KEY.',
  );
};

/** One address has one form, in printable characters, however it was written. */
const normalised = (url: string): string => (URL.canParse(url) ? new URL(url).href : url);

/** The addresses as they are kept, or a refusal that names every one that this service would not call. */
export const requireTargets = <Targets extends GivenTargets>(
  given: Targets,
  dependencies: OperationDependencies,
): Targets => {
  const { rules } = dependencies.alertChannels;
  const details: ErrorDetail[] = [];
  const targets = { ...given };
  for (const name of ['webhook_url', 'chat_webhook_url'] as const) {
    const url = given[name];
    if (typeof url !== 'string') continue;
    targets[name] = normalised(url);
    const fault = checkTargetUrl(url, rules) ?? checkTargetUrl(normalised(url), rules);
    if (fault !== null) details.push({ path: name, message: fault, code: 'target_refused' });
  }
  if (details.length > 0) throw new Refusal('invalid_input', 'The input was rejected; see details.', details);
  return targets;
};

/** Stands for an address that is not sealed yet, where it is only asked whether a rule may be so. */
export const UNSEALED: SealedAddress = { host: '', fingerprint: '' };

/** What events may hold of a chat tool's address; the address itself goes to the vault. */
export const sealedAddress = async (
  dependencies: OperationDependencies,
  workspaceId: string,
  alertId: string,
  url: string | null,
): Promise<SealedAddress | null> => {
  if (url === null) return null;
  const fingerprint = await requireVault(dependencies).seal(workspaceId, alertId, url);
  return { host: new URL(url).host, fingerprint };
};
