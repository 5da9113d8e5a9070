import type { OperationDependencies } from './dependencies.ts';

export type NamedMember = {
  readonly workspaceId: string;
  readonly memberId: string;
  readonly name: string;
  readonly sealed: string | null;
};

/** `null` when the name cannot be decrypted (erased, or no vault key): it must not fail the whole reply. */
export const memberNameOf = async (
  { memberVault, log }: Pick<OperationDependencies, 'memberVault' | 'log'>,
  { workspaceId, memberId, name, sealed }: NamedMember,
): Promise<string | null> => {
  if (sealed === null) return name;
  try {
    return (await memberVault?.open(workspaceId, memberId, sealed))?.name ?? null;
  } catch (error) {
    log.error({ err: error, member_id: memberId }, 'member name decryption failed; check MEMBER_VAULT_KEY');
    return null;
  }
};
