import { randomUUID } from 'node:crypto';
import type { Actor } from '#contracts/events/event.ts';
import { Refusal } from '#contracts/errors.ts';
import {
  type ConnectedApp,
  type ConnectionEvent,
  type DisconnectReason,
  connectionStream,
} from '#contracts/events/workspace/connection.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import { type Role, SCOPES_OF_ROLE, type Scope } from '#contracts/values/access.ts';
import type { WorkspaceCommands } from '#application/commands/workspace-commands.ts';
import {
  type ConnectionState,
  allowApp,
  connectApp,
  connection,
  denyApp,
  disconnectApp,
} from '#domain/workspace/connection.ts';
import { type Clock, pause } from '#platform/clock.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Log } from '#platform/logger.ts';
import { type TokenRights, deleteDeadRecords, keepUsedClients } from './adapter.ts';

const SERVICE: Actor = { kind: 'service', id: 'mcp' };

export type ConnectionRow = {
  readonly connection_id: string;
  readonly workspace_id: string;
  readonly member_id: string;
  readonly app: ConnectedApp;
  readonly scopes: readonly Scope[];
  readonly allowed_at: string;
  readonly connected: boolean;
};

export type ListedConnection = ConnectionRow & { readonly last_used_at: string | null };

export type ConnectionPosition = Pick<ConnectionRow, 'allowed_at' | 'connection_id'>;

/** Without `memberId`: all members of the workspace. */
export type ConnectionsOf = { readonly workspaceId: string; readonly memberId?: string | undefined };

export type Consent = {
  readonly connectionId: string;
  readonly workspaceId: string;
  readonly memberId: string;
  readonly app: ConnectedApp;
};

/** Ending a connection returns when no process accepts its tokens. */
export type Connections = TokenRights & {
  /** Throws `scope_missing` for scopes that the role does not have. */
  allow(consent: Consent & { readonly scopes: readonly Scope[]; readonly role: Role }): Promise<void>;
  deny(consent: Consent): Promise<void>;
  endAs(row: ConnectionRow, reason: DisconnectReason, actor: Actor): Promise<void>;
  /** The member may be an admin of the workspace. */
  endByMember(row: ConnectionRow, memberId: string): Promise<void>;
  /** Newest first, at most `PAGE_SIZE`. */
  list(of: ConnectionsOf, after?: ConnectionPosition | null): Promise<readonly ListedConnection[]>;
  /** `null` when none of these members has the connection. */
  find(of: ConnectionsOf, connectionId: string): Promise<ConnectionRow | null>;
  /** Newest first, at most `ENDED_BY_MEMBER_MAX`; returns how many. */
  endAll(of: ConnectionsOf, byMemberId: string): Promise<number>;
  /** Ends expired connections and those of erased members, whose tokens are already rejected. */
  endDead(): Promise<number>;
};

const COLUMNS = 'connection_id, workspace_id, member_id, app, scopes, allowed_at, connected';
/** $1: the workspace; $2: the member, or null for all. */
const IS_LISTED =
  'workspace_id = $1 and ($2::text is null or member_id = $2) and not ended and expires_at > now()';
const COUNT = `select count(*)::int as count from access.connection where ${IS_LISTED}`;
export const PAGE_SIZE = 50;
export const ENDED_BY_MEMBER_MAX = 1_000;
const ENDED_TOGETHER_MAX = 100;

export const createConnections = (dependencies: {
  readonly pool: Database;
  readonly workspaceCommands: WorkspaceCommands;
  readonly clock: Clock;
  readonly connectionDays: number;
}): Connections => {
  const { pool, workspaceCommands, clock, connectionDays } = dependencies;
  const at = (): string => clock.now().toISOString();

  const execute = async (
    { workspaceId, connectionId }: { readonly workspaceId: string; readonly connectionId: string },
    actor: Actor,
    decision: (state: ConnectionState) => readonly ConnectionEvent[],
  ): Promise<void> => {
    await workspaceCommands.execute({
      workspaceId,
      stream: connectionStream(workspaceId, connectionId),
      decider: connection,
      decision,
      actor,
      requestId: randomUUID(),
      commandId: randomUUID(),
      mayRepeat: false,
      shownIn: [],
    });
  };

  type Found = ConnectionRow & { readonly expired: boolean };
  const find = async (connectionId: string): Promise<Found | undefined> => {
    const sql = `select ${COLUMNS}, expires_at <= now() as expired from access.connection
      where connection_id = $1 and not ended`;
    return (await pool.query<Found>(sql, [connectionId])).rows[0];
  };

  const endAs: Connections['endAs'] = ({ workspace_id, connection_id }, reason, actor) => {
    const ending = disconnectApp({ workspace_id, connection_id, reason, at: at() });
    return execute({ workspaceId: workspace_id, connectionId: connection_id }, actor, ending);
  };

  const endByMember: Connections['endByMember'] = (row, memberId) =>
    endAs(row, row.member_id === memberId ? 'member' : 'admin', { kind: 'member', id: memberId });

  const list: Connections['list'] = async ({ workspaceId, memberId }, after) => {
    const sql = `select ${COLUMNS}, (select last_used_at from access.key_use used
          where used.workspace_id = connection.workspace_id and used.key_id = connection_id) as last_used_at
      from access.connection
      where ${IS_LISTED} and ($3::text is null or allowed_at < $3 or (allowed_at = $3 and connection_id > $4))
      order by allowed_at desc, connection_id limit ${PAGE_SIZE}`;
    const position = [after?.allowed_at ?? null, after?.connection_id ?? null];
    return (await pool.query<ListedConnection>(sql, [workspaceId, memberId ?? null, ...position])).rows;
  };

  return {
    allow: async ({ connectionId, workspaceId, memberId, app, scopes, role }) => {
      const now = clock.now().getTime();
      const decisionOn = (connections: number) =>
        allowApp({
          workspace_id: workspaceId,
          connection_id: connectionId,
          member_id: memberId,
          client: app,
          scopes,
          grantable: SCOPES_OF_ROLE[role],
          connections,
          at: new Date(now).toISOString(),
          expires_at: new Date(now + connectionDays * DAY_MS).toISOString(),
        });
      const { rows } = await pool.query<{ count: number }>(COUNT, [workspaceId, memberId]);
      const by = { kind: 'member', id: memberId } as const;
      await execute({ workspaceId, connectionId }, by, decisionOn(rows[0]?.count ?? 0));
    },
    deny: ({ connectionId, workspaceId, memberId, app }) => {
      const denied = { workspace_id: workspaceId, connection_id: connectionId, member_id: memberId };
      const decision = denyApp({ ...denied, client: app, at: at() });
      return execute({ workspaceId, connectionId }, { kind: 'member', id: memberId }, decision);
    },
    admit: async (connectionId) => {
      const row = await find(connectionId);
      // An expired connection gets no tokens, even before its end is recorded.
      if (!row || row.expired) return false;
      if (row.connected) return true;
      const { workspace_id, connection_id } = row;
      try {
        const connecting = connectApp({ workspace_id, connection_id, at: at() });
        await execute(
          { workspaceId: workspace_id, connectionId },
          { kind: 'connection', id: connectionId },
          connecting,
        );
        return true;
      } catch (error) {
        if (error instanceof Refusal && error.code === 'not_found') return false;
        throw error;
      }
    },
    end: async (connectionId, reason) => {
      const row = await find(connectionId);
      if (row) await endAs(row, reason, { kind: 'connection', id: connectionId });
    },
    endAs,
    list,
    find: async ({ workspaceId, memberId }, connectionId) => {
      const sql = `select ${COLUMNS} from access.connection where connection_id = $3 and ${IS_LISTED}`;
      const { rows } = await pool.query<ConnectionRow>(sql, [workspaceId, memberId ?? null, connectionId]);
      return rows[0] ?? null;
    },
    endAll: async (of, byMemberId) => {
      let ended = 0;
      let last: ConnectionRow | null = null;
      do {
        // Continues after the last one, so that the loop ends even if a connection stays in the list.
        const rows: readonly ListedConnection[] = await list(of, last);
        await Promise.all(rows.map((row) => endByMember(row, byMemberId)));
        ended += rows.length;
        last = rows.length < PAGE_SIZE ? null : (rows.at(-1) ?? null);
      } while (last !== null && ended < ENDED_BY_MEMBER_MAX);
      return ended;
    },
    endByMember,
    endDead: async () => {
      const sql = `select ${COLUMNS}, expires_at <= now() as expired from access.connection
        where not ended and (expires_at <= now() or not exists (
          select from access.member where member.workspace_id = connection.workspace_id
            and member.member_id = connection.member_id))
        order by expires_at, connection_id limit ${ENDED_TOGETHER_MAX}`;
      const { rows } = await pool.query<ConnectionRow & { readonly expired: boolean }>(sql);
      await Promise.all(rows.map((row) => endAs(row, row.expired ? 'expired' : 'member_erased', SERVICE)));
      return rows.length;
    },
  };
};

const RUN_EVERY_MS = 60_000;

export type HousekeepingDependencies = {
  readonly pool: Database;
  readonly connections: Connections;
  /** Absent when members cannot sign in. */
  readonly signIn?: { tidy(): Promise<number> };
  readonly log: Log;
};

/** Ends dead connections and deletes dead records. Runs in every process; concurrent runs are harmless. */
export const startHousekeeping = (
  { pool, connections, signIn, log }: HousekeepingDependencies,
  everyMs: number = RUN_EVERY_MS,
): AsyncDisposable => {
  const ending = new AbortController();
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      try {
        const ended = await connections.endDead();
        await keepUsedClients(pool);
        const deleted = (await deleteDeadRecords(pool)) + ((await signIn?.tidy()) ?? 0);
        if (ended + deleted > 0) log.info({ ended, deleted }, 'dead connections and records removed');
      } catch (error) {
        log.warn({ err: error }, 'housekeeping of connections failed');
      }
      await pause(everyMs, ending.signal);
    }
  };
  const running = run();
  return {
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await running;
    },
  };
};
