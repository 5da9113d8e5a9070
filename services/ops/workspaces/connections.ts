import { randomUUID } from 'node:crypto';
import { Refusal } from '#contracts/errors.ts';
import {
  type ConnectedApp,
  type ConnectionEvent,
  connectionStream,
} from '#contracts/events/workspace/connection.ts';
import type { Scope } from '#contracts/values/access.ts';
import { connection, type ConnectionState, disconnectApp } from '#domain/workspace/connection.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { now, type OperatorDependencies } from './operations.ts';

export const LISTED_MAX = 10_000;

type Row = {
  readonly connection_id: string;
  readonly member_id: string;
  readonly app: ConnectedApp;
  readonly scopes: readonly Scope[];
  readonly allowed_at: string;
  readonly connected: boolean;
};

export const listConnections = async ({ pool }: { readonly pool: Database }, workspaceId: string) => {
  const { rows } = await pool.query<Row>(
    `select connection_id, member_id, app, scopes, allowed_at, connected from access.connection
     where workspace_id = $1 and not ended and expires_at > now()
     order by allowed_at desc, connection_id limit ${LISTED_MAX}`,
    [workspaceId],
  );
  return rows.map(({ app, scopes, ...row }) => ({
    ...row,
    app: app.name,
    identified_by: app.identified_by,
    redirect_host: app.redirect_host,
    scopes: scopes.join(' '),
  }));
};

const execute = (
  { workspaceCommands, actor }: OperatorDependencies,
  { workspace_id, connection_id }: { readonly workspace_id: string; readonly connection_id: string },
  decision: (state: ConnectionState) => readonly ConnectionEvent[],
) =>
  workspaceCommands.execute({
    workspaceId: workspace_id,
    stream: connectionStream(workspace_id, connection_id),
    decider: connection,
    decision,
    actor,
    requestId: randomUUID(),
    commandId: randomUUID(),
    mayRepeat: false,
    shownIn: [],
  });

export const endConnectionsOfErased = async (
  dependencies: OperatorDependencies & { readonly pool: Database },
  workspace_id: string,
  member_id: string,
): Promise<number> => {
  const { rows } = await dependencies.pool.query<{ readonly connection_id: string }>(
    `select connection_id from access.connection where workspace_id = $1 and member_id = $2 and not ended
     order by connection_id`,
    [workspace_id, member_id],
  );
  for (const { connection_id } of rows) {
    const ended = { workspace_id, connection_id, reason: 'member_erased', at: now() } as const;
    await execute(dependencies, ended, disconnectApp(ended));
  }
  return rows.length;
};

/** When it returns, no process accepts the connection's tokens. Throws `not_found`. */
export const endConnection = async (
  dependencies: OperatorDependencies,
  workspace_id: string,
  connection_id: string,
) => {
  const end = disconnectApp({ workspace_id, connection_id, reason: 'operator', at: now() });
  const { events } = await execute(dependencies, { workspace_id, connection_id }, (state) => {
    // The decision accepts an unknown id, but an operator who mistypes one must get an error.
    if (state.status === 'none') throw new Refusal('not_found', 'Connection not found in this workspace.');
    return end(state);
  });
  return { workspace_id, connection_id, ended: true, changed: events.length > 0 };
};
