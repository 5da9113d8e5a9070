import type { Plan } from '#contracts/events/workspace/workspace.ts';
import type { Role } from '#contracts/values/access.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Log } from '#platform/logger.ts';
import { findNames } from '#projections/workspaces/read.ts';
import type { MemberVault, Person } from '../vault/member-vault.ts';

export type Membership = {
  readonly workspaceId: string;
  readonly workspaceName: string;
  readonly memberId: string;
  readonly role: Role;
  readonly plan: Plan;
};

/**
 * The account id is the keyed hash of the address, with all its workspaces, or a member id for invitations: the
 * operator vouches for that membership only.
 */
export type Account = {
  readonly accountId: string;
  /** `null` when the name cannot be read: no vault key here, or the read model lags. */
  readonly name: string | null;
  readonly email: string | null;
  /** In the order of workspace ids; at least one. */
  readonly memberships: readonly Membership[];
};

export type MemberDirectory = {
  /** Does not read names. */
  has(accountId: string): Promise<boolean>;
  /** `null` without present members, such as after an erasure. */
  find(accountId: string): Promise<Account | null>;
};

const MEMBERSHIPS_MAX = 100;

const MEMBERSHIPS = `
  select workspace_id, member_id, role, plan from access.member join access.workspace using (workspace_id)
  where (workspace_id, member_id) in (
      select workspace_id, member_id from vault.member_address where account_id = $1)
    or member_id = $1
  order by workspace_id, member_id limit ${MEMBERSHIPS_MAX}`;
type Row = {
  readonly workspace_id: string;
  readonly member_id: string;
  readonly role: Role;
  readonly plan: Plan;
};

/** Reads the log's own tables, so that an erased member is unknown at once. */
export const createMemberDirectory = ({
  pool,
  db,
  memberVault,
  log,
}: {
  readonly pool: Database;
  readonly db: ReadDatabase;
  readonly memberVault: MemberVault | null;
  readonly log: Log;
}): MemberDirectory => {
  const open = async (workspaceId: string, memberId: string, sealed: string): Promise<Person | null> => {
    try {
      return (await memberVault?.open(workspaceId, memberId, sealed)) ?? null;
    } catch (error) {
      log.error({ err: error, member_id: memberId }, 'member name decryption failed; check MEMBER_VAULT_KEY');
      return null;
    }
  };
  return {
    has: async (accountId) => (await pool.query<Row>(MEMBERSHIPS, [accountId])).rows.length > 0,
    find: async (accountId) => {
      const { rows } = await pool.query<Row>(MEMBERSHIPS, [accountId]);
      if (rows.length === 0) return null;
      const named = await Promise.all(
        rows.map(async ({ workspace_id: workspaceId, member_id: memberId, role, plan }) => {
          const names = await findNames(db, workspaceId, memberId);
          const plain = names && names.name !== '' ? { name: names.name, email: null } : null;
          const person = names?.sealed ? await open(workspaceId, memberId, names.sealed) : plain;
          const workspaceName = names?.workspace_name ?? workspaceId;
          return { person, membership: { workspaceId, workspaceName, memberId, role, plan } };
        }),
      );
      const person = named.find((one) => one.person !== null)?.person ?? null;
      return {
        accountId,
        name: person?.name ?? null,
        email: person?.email ?? null,
        memberships: named.map(({ membership }) => membership),
      };
    },
  };
};
