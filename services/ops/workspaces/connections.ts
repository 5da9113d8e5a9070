import { randomUUID } from 'node:crypto';
import { Refusal } from '#contracts/errors.ts';
import { type ConnectedApp, connectionStream } from '#contracts/events/workspace/connection.ts';
import type { Scope } from '#contracts/values/scopes.ts';
import { connection, disconnectApp } from '#domain/workspace/connection.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { now, type OperatorDependencies } from './operations.ts';

/** Maximum connections listed. */
const LISTED_MAX = 10_000;

type Row = {
  readonly connection_id: string;
  readonly member_id: string;
  readonly app: ConnectedApp;
  readonly scopes: readonly Scope[];
  readonly allowed_at: string;
  readonly connected: boolean;
};

/** Lists the live connections of apps to a workspace, newest first. */
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

/**
 * Ends a connection. When it returns, no process accepts its tokens. Throws `not_found` for an id that the workspace
 * does not have.
 */
export const endConnection = async (
  dependencies: OperatorDependencies,
  workspace_id: string,
  connection_id: string,
) => {
  const end = disconnectApp({ workspace_id, connection_id, reason: 'operator', at: now() });
  const { events } = await dependencies.workspaceCommands.execute({
    workspaceId: workspace_id,
    stream: connectionStream(workspace_id, connection_id),
    decider: connection,
    decision: (state) => {
      // The decision alone accepts an unknown id; an operator who mistypes one must get an error.
      if (state.status === 'none') throw new Refusal('not_found', 'Connection not found in this workspace.');
      return end(state);
    },
    actor: dependencies.actor,
    requestId: randomUUID(),
    commandId: randomUUID(),
    mayRepeat: false,
    shownIn: [],
  });
  return { workspace_id, connection_id, ended: true, changed: events.length > 0 };
};
