import type { Plan } from '#contracts/events/workspace/workspace.ts';
import type { PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { cutPage } from '../sql/pages.ts';

export type WorkspaceRow = {
  readonly workspace_id: string;
  readonly name: string;
  readonly plan: Plan;
  readonly created_at: string;
  readonly members: number;
};

/** Operators list all workspaces at once; beyond this they query the database. */
export const WORKSPACES_LISTED_MAX = 10_000;

const LIST = `
  select workspace_id, name, plan, created_at,
    (select count(*)::int from workspaces.member where member.workspace_id = workspace.workspace_id) as members
  from workspaces.workspace order by created_at desc, workspace_id desc limit $1`;

export const listWorkspaces = (db: ReadDatabase): Promise<readonly WorkspaceRow[]> =>
  db.slow<WorkspaceRow>({ sql: LIST, values: [WORKSPACES_LISTED_MAX] });

const NAMES = `
  select workspace.name as workspace_name, member.name, member.sealed
  from workspaces.workspace join workspaces.member using (workspace_id)
  where workspace_id = $1 and member_id = $2`;

export type WorkspaceNames = {
  readonly workspace_name: string;
  /** Empty if `sealed` holds it. */
  readonly name: string;
  readonly sealed: string | null;
};

/** `null` if the member is not projected yet. */
export const findNames = async (
  db: ReadDatabase,
  workspaceId: string,
  memberId: string,
): Promise<WorkspaceNames | null> =>
  (await db.query<WorkspaceNames>({ sql: NAMES, values: [workspaceId, memberId] }))[0] ?? null;

const MEMBERS = `
  select member_id, name, sealed, role, added_at from workspaces.member
  where workspace_id = $1 order by added_at, member_id`;

export type MemberRow = {
  readonly member_id: string;
  /** Empty if `sealed` holds it. */
  readonly name: string;
  /** Encrypted name and e-mail address, which the vault decrypts. */
  readonly sealed: string | null;
  readonly role: string;
  readonly added_at: string;
};

const MEMBERS_PAGE = `
  select member_id, name, sealed, role, added_at from workspaces.member
  where workspace_id = $1 and (added_at, member_id) > ($2, $3) order by added_at, member_id limit $4`;

/** A page of members, in the order in which they were added. */
export const listMemberPage = async (db: ReadDatabase, workspaceId: string, page: PageRequest) => {
  const values = [workspaceId, ...(page.after ?? ['', '']), page.limit + 1];
  const found = await db.query<MemberRow>({ sql: MEMBERS_PAGE, values });
  return cutPage(found, page.limit, (last) => [last.added_at, last.member_id] as const);
};

export const listMembers = (db: ReadDatabase, workspaceId: string): Promise<readonly MemberRow[]> =>
  db.slow<MemberRow>({ sql: MEMBERS, values: [workspaceId] });
