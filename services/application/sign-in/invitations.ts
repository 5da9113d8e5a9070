import { randomBytes, randomUUID } from 'node:crypto';
import { Refusal } from '#contracts/errors.ts';
import type { Actor } from '#contracts/events/event.ts';
import { signInStream } from '#contracts/events/workspace/sign-in.ts';
import { HOUR_MS } from '#contracts/values/time.ts';
import { inviteMember, signInDecider } from '#domain/workspace/sign-in.ts';
import type { Clock } from '#platform/clock.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { sha256Of } from '../access/key-format.ts';
import type { WorkspaceCommands } from '../commands/workspace-commands.ts';

const INVITATION_HOURS = 24;
/** The browser that used a link can use it again, for people who did not get the reply. Another browser cannot. */
const SAME_BROWSER_MINUTES = 10;
const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;

export type Invitation = { readonly workspaceId: string; readonly memberId: string };

export type Invitations = {
  /** `null` for a link that is unknown, used, expired or of an erased member. Changes nothing. */
  find(token: string, browserHash: string): Promise<Invitation | null>;
  /** One of two concurrent browsers gets the invitation, the other `null`. */
  use(token: string, browserHash: string): Promise<Invitation | null>;
};

const VALID = `
  token_hash = $1 and expires_at > now()
    and (browser_hash is null or (browser_hash = $2 and used_at > now() - interval '${SAME_BROWSER_MINUTES} minutes'))
    and exists (select from access.member where member.workspace_id = invitation.workspace_id
      and member.member_id = invitation.member_id)`;
const FIND = `select workspace_id, member_id from sign_in.invitation where ${VALID}`;
const USE = `
  update sign_in.invitation set browser_hash = $2, used_at = coalesce(used_at, now())
  where ${VALID} returning workspace_id, member_id`;

export const createInvitations = (pool: Database): Invitations => {
  const run = async (sql: string, token: string, browserHash: string): Promise<Invitation | null> => {
    if (!TOKEN.test(token)) return null;
    type Row = { readonly workspace_id: string; readonly member_id: string };
    const [row] = (await pool.query<Row>(sql, [sha256Of(token), browserHash])).rows;
    return row ? { workspaceId: row.workspace_id, memberId: row.member_id } : null;
  };
  return {
    find: (token, browserHash) => run(FIND, token, browserHash),
    use: (token, browserHash) => run(USE, token, browserHash),
  };
};

/**
 * Appends the event, with an id, before the table gets a hash, so a crash leaves no valid link. Throws `not_found` for
 * an unknown member.
 */
export const issueInvitation = async (
  dependencies: {
    readonly pool: Database;
    readonly workspaceCommands: WorkspaceCommands;
    readonly clock: Clock;
  },
  { workspaceId, memberId }: Invitation,
  actor: Actor,
): Promise<{ readonly invitationId: string; readonly token: string; readonly expiresAt: string }> => {
  const { pool, workspaceCommands, clock } = dependencies;
  const { rows } = await pool.query('select from access.member where workspace_id = $1 and member_id = $2', [
    workspaceId,
    memberId,
  ]);
  if (rows.length === 0) throw new Refusal('not_found', 'Member not found in this workspace.');
  const nowMs = clock.now().getTime();
  const invitationId = `inv_${randomUUID()}`;
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const expiresAt = new Date(nowMs + INVITATION_HOURS * HOUR_MS).toISOString();
  await workspaceCommands.execute({
    workspaceId,
    stream: signInStream(workspaceId),
    decider: signInDecider,
    decision: inviteMember({
      workspace_id: workspaceId,
      member_id: memberId,
      invitation_id: invitationId,
      at: new Date(nowMs).toISOString(),
      expires_at: expiresAt,
    }),
    actor,
    requestId: randomUUID(),
    commandId: randomUUID(),
    mayRepeat: false,
    isShared: true,
    shownIn: [],
  });
  await pool.query(
    `insert into sign_in.invitation (token_hash, invitation_id, workspace_id, member_id, expires_at)
     values ($1, $2, $3, $4, $5)`,
    [sha256Of(token), invitationId, workspaceId, memberId, expiresAt],
  );
  return { invitationId, token, expiresAt };
};
