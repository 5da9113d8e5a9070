import type { OperationDependencies } from './dependencies.ts';

/** A member as the read model has it. */
export type NamedMember = {
  readonly workspaceId: string;
  readonly memberId: string;
  /** Empty where `sealed` holds it. */
  readonly name: string;
  readonly sealed: string | null;
};

/** `null` for a name that nobody opens (erased, or no key here), which is no reason to refuse the rest. */
export const memberNameOf = async (
  { memberVault, log }: Pick<OperationDependencies, 'memberVault' | 'log'>,
  { workspaceId, memberId, name, sealed }: NamedMember,
): Promise<string | null> => {
  if (sealed === null) return name;
  try {
    return (await memberVault?.open(workspaceId, memberId, sealed))?.name ?? null;
  } catch (error) {
    log.error(
      { err: error, member_id: memberId },
      'a name does not open: is MEMBER_VAULT_KEY the right one?',
    );
    return null;
  }
};
