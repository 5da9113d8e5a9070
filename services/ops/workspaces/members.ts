import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { type WorkspaceEvent, workspaceStream } from '#contracts/events/workspace/workspace.ts';
import type { Role } from '#contracts/values/roles.ts';
import { addMember, eraseMember } from '#domain/workspace/workspace.ts';
import type { MemberVault, Person } from '#application/vault/member-vault.ts';
import {
  createId,
  requireName,
  knownKeys,
  knownWorkspace,
  now,
  onWorkspace,
  type OperatorDependencies,
  revokeKey,
} from './operations.ts';

/** What operators do about the people of a workspace. */
export type MemberDependencies = OperatorDependencies & {
  /** `null` without MEMBER_VAULT_KEY. */
  readonly memberVault: MemberVault | null;
};

const NAME_MAX_LENGTH = 200;
/** The longest address that mail servers take (RFC 5321). */
const EMAIL_MAX_LENGTH = 254;
const Email = z.email().max(EMAIL_MAX_LENGTH);

const requirePerson = ({ name, email }: Person): Person => {
  if (email !== null && !Email.safeParse(email).success) {
    throw new Refusal('invalid_input', `${email} is no e-mail address.`);
  }
  return { name: requireName(name, NAME_MAX_LENGTH), email };
};

/**
 * With a vault, name and address are sealed: the key first, so that no event holds what nobody can open. Without one,
 * the name is recorded as it is, a display name that stays in the log for good, and no address is taken.
 */
export const addPerson = async (
  dependencies: MemberDependencies,
  workspace_id: string,
  given: Person,
  role: Role,
) => {
  const person = requirePerson(given);
  const vault = dependencies.memberVault;
  if (!vault && person.email !== null) {
    throw new Refusal(
      'invalid_input',
      'An address is kept sealed only: set MEMBER_VAULT_KEY, base64 of 32 bytes.',
    );
  }
  // Before a key is made in the vault that nothing would ever be sealed with.
  await knownWorkspace(dependencies, workspace_id);
  const member_id = createId('mem');
  const shown = vault
    ? { name: '', sealed: await vault.seal(workspace_id, member_id, person) }
    : { name: person.name };
  await onWorkspace(
    dependencies,
    workspace_id,
    addMember({ workspace_id, member_id, ...shown, role, at: now() }),
  );
  return { workspace_id, member_id, name: person.name, email: person.email, role };
};

/** Whether the log says a member's name in plain: recorded without a vault, it cannot be taken back. */
const isNamedInLog = async (
  dependencies: OperatorDependencies,
  workspaceId: string,
  memberId: string,
): Promise<boolean> => {
  for await (const event of dependencies.eventStore.read<WorkspaceEvent>(workspaceStream(workspaceId))) {
    if (event.type === 'MemberAdded' && event.data.member_id === memberId) return event.data.name !== '';
  }
  return false;
};

/**
 * Erases a person: their keys are revoked, the event says that they went, and the key to what was sealed is deleted.
 * Interrupted anywhere, the same command brings it to its end.
 */
export const erasePerson = async (
  dependencies: MemberDependencies,
  workspace_id: string,
  member_id: string,
) => {
  const vault = dependencies.memberVault;
  if (!vault) throw new Refusal('invalid_input', 'Erasing needs the vault: set MEMBER_VAULT_KEY.');
  const { events } = await onWorkspace(
    dependencies,
    workspace_id,
    eraseMember({ workspace_id, member_id, at: now() }),
  );
  await vault.erase(workspace_id, member_id);
  const keys = (await knownKeys(dependencies, workspace_id)).filter(
    (key) => key.member_id === member_id && key.revoked_at === null,
  );
  for (const { key_id } of keys) await revokeKey(dependencies, workspace_id, key_id);
  return {
    workspace_id,
    member_id,
    erased: true,
    changed: events.length > 0,
    keys_revoked: keys.length,
    name_in_log: await isNamedInLog(dependencies, workspace_id, member_id),
  };
};

/** What Node says of a text that another key sealed. */
const NOT_OPENED = 'unable to authenticate data';

/** A member of now, by name where the vault opens it. */
export const openPerson = async (
  vault: MemberVault | null,
  workspaceId: string,
  member: { readonly member_id: string; readonly name: string; readonly sealed: string | null },
): Promise<{ readonly name: string | null; readonly email: string | null }> => {
  if (member.sealed === null) return { name: member.name, email: null };
  try {
    return (await vault?.open(workspaceId, member.member_id, member.sealed)) ?? { name: null, email: null };
  } catch (cause) {
    if (!(cause instanceof Error) || !cause.message.includes(NOT_OPENED)) throw cause;
    const refusal = new Refusal(
      'invalid_input',
      'MEMBER_VAULT_KEY is not the key that this was sealed under.',
    );
    throw Object.assign(refusal, { cause });
  }
};
