import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { type WorkspaceEvent, workspaceStream } from '#contracts/events/workspace/workspace.ts';
import type { Role } from '#contracts/values/access.ts';
import { addMember, eraseMember } from '#domain/workspace/workspace.ts';
import { issueInvitation } from '#application/sign-in/invitations.ts';
import { createBrowserSignInTables } from '#application/sign-in/tables.ts';
import type { MemberVault, Person } from '#application/vault/member-vault.ts';
import { systemClock } from '#platform/clock.ts';
import type { Database } from '#platform/postgres/pool.ts';
import {
  createId,
  requireName,
  loadApiKeys,
  loadWorkspace,
  now,
  runOnWorkspace,
  type OperatorDependencies,
  revokeKey,
} from './operations.ts';
import { endConnectionsOfErased } from './connections.ts';

export type MemberDependencies = OperatorDependencies & {
  readonly memberVault: MemberVault | null;
};

const NAME_MAX_LENGTH = 200;
/** Maximum characters of an e-mail address (RFC 5321). */
const EMAIL_MAX_LENGTH = 254;
const Email = z.email().max(EMAIL_MAX_LENGTH);

const requirePerson = ({ name, email }: Person): Person => {
  if (email !== null && !Email.safeParse(email).success) {
    throw new Refusal('invalid_input', `${email} is not a valid e-mail address.`);
  }
  return { name: requireName(name, NAME_MAX_LENGTH), email };
};

/**
 * Adds a member. Stores the key first, so that each encrypted event can be decrypted. Without a vault, the log keeps
 * the name in plain text, and an address is rejected.
 */
export const addPerson = async (
  dependencies: MemberDependencies,
  workspace_id: string,
  input: Person,
  role: Role,
) => {
  const person = requirePerson(input);
  const vault = dependencies.memberVault;
  if (!vault && person.email !== null) {
    throw new Refusal(
      'invalid_input',
      'E-mail addresses are stored encrypted only. Set MEMBER_VAULT_KEY to base64 of 32 bytes.',
    );
  }
  // Checked before the vault creates a key, so an unknown workspace leaves no unused key behind.
  await loadWorkspace(dependencies, workspace_id);
  const member_id = createId('mem');
  const shown = vault
    ? { name: '', sealed: await vault.seal(workspace_id, member_id, person) }
    : { name: person.name };
  await runOnWorkspace(
    dependencies,
    workspace_id,
    addMember({ workspace_id, member_id, ...shown, role, at: now() }),
  );
  return { workspace_id, member_id, name: person.name, email: person.email, role };
};

/** True when the member was added without a vault. Their name then cannot be erased. */
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

/** Erases a member and ends their access. Idempotent: a repetition completes interrupted steps. */
export const erasePerson = async (
  dependencies: MemberDependencies & { readonly pool: Database },
  workspace_id: string,
  member_id: string,
) => {
  const vault = dependencies.memberVault;
  if (!vault)
    throw new Refusal('invalid_input', 'Erasing a member requires the vault. Set MEMBER_VAULT_KEY.');
  const { events } = await runOnWorkspace(
    dependencies,
    workspace_id,
    eraseMember({ workspace_id, member_id, at: now() }),
  );
  await vault.erase(workspace_id, member_id);
  const keys = (await loadApiKeys(dependencies, workspace_id)).filter(
    (key) => key.member_id === member_id && key.revoked_at === null,
  );
  for (const { key_id } of keys) await revokeKey(dependencies, workspace_id, key_id);
  const ended = await endConnectionsOfErased(dependencies, workspace_id, member_id);
  return {
    workspace_id,
    member_id,
    erased: true,
    changed: events.length > 0,
    keys_revoked: keys.length,
    connections_ended: ended,
    name_in_log: await isNamedInLog(dependencies, workspace_id, member_id),
  };
};

/** Part of Node's error when another key was used. */
const NOT_OPENED = 'unable to authenticate data';

/** Both fields are `null` without a vault or key. Throws `invalid_input` for the wrong MEMBER_VAULT_KEY. */
export const decryptPerson = async (
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
      'MEMBER_VAULT_KEY is not the key that encrypted this member. Set the key that was in use then.',
    );
    throw Object.assign(refusal, { cause });
  }
};

/** Creates a link that works once, for a day; no event holds it. Throws `not_found` for an unknown member. */
export const invitePerson = async (
  dependencies: OperatorDependencies & { readonly pool: Database; readonly mcpBaseUrl: string },
  workspaceId: string,
  memberId: string,
) => {
  await createBrowserSignInTables(dependencies.pool);
  const { invitationId, token, expiresAt } = await issueInvitation(
    { ...dependencies, clock: systemClock },
    { workspaceId, memberId },
    dependencies.actor,
  );
  return {
    workspace_id: workspaceId,
    member_id: memberId,
    invitation_id: invitationId,
    link: `${dependencies.mcpBaseUrl}/signin/invitation/${token}`,
    expires_at: expiresAt,
  };
};
