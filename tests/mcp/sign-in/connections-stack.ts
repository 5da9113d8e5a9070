import { randomUUID } from 'node:crypto';
import type { Adapter } from 'oidc-provider';
import { type ConnectionEvent, connectionStream } from '#contracts/events/workspace/connection.ts';
import type { Role } from '#contracts/values/roles.ts';
import type { Scope } from '#contracts/values/scopes.ts';
import { createAuthorizationTables } from '#application/sign-in/authorization-tables.ts';
import { connectionIdOf } from '#domain/workspace/connection.ts';
import { systemClock } from '#platform/clock.ts';
import { openReadDatabase } from '#platform/postgres/pool.ts';
import { createAdapter } from '#services/mcp/sign-in/adapter.ts';
import {
  type ConnectionRow,
  type Connections,
  createConnections,
} from '#services/mcp/sign-in/connections.ts';
import {
  createVerifyAccessToken,
  type VerifyAccessToken,
} from '#services/mcp/sign-in/verify-access-token.ts';
import { type ApiStack, type Key, openApiStack } from '../../operations/fixtures/stack.ts';

const RESOURCE = 'https://mcp.test/mcp';
export const SCOPES = ['brands:read', 'tracking:write'] as const satisfies readonly Scope[];
export const APP = {
  id: 'app',
  name: 'App',
  identified_by: 'registration',
  redirect_host: 'app.example',
} as const;

/** Connections and their tokens over a real log and database, without the authorization server. */
export type ConnectionsStack = AsyncDisposable & {
  readonly stack: ApiStack;
  readonly key: Key;
  readonly connections: Connections;
  readonly adapterOf: (kind: string) => Adapter;
  /** Two processes, each with leases of its own. */
  readonly processes: readonly [VerifyAccessToken, VerifyAccessToken];
  /** Allows an app as a member on the consent page does. */
  readonly allow: (
    memberId?: string,
    role?: Role,
  ) => Promise<{ readonly grantId: string; readonly connectionId: string }>;
  /** Stores an access token and returns it. */
  readonly issue: (grantId: string, scope?: string, aud?: string) => Promise<string>;
  readonly historyOf: (connectionId: string) => Promise<readonly ConnectionEvent[]>;
  readonly rowOf: (connectionId: string) => Promise<ConnectionRow>;
};

export const openConnectionsStack = async (): Promise<ConnectionsStack> => {
  const resources = new AsyncDisposableStack();
  const stack = resources.use(await openApiStack());
  const { pool, workspaceCommands } = stack;
  await createAuthorizationTables(pool);
  const connections = createConnections({ pool, workspaceCommands, clock: systemClock, connectionDays: 180 });
  const adapterOf = createAdapter(pool, connections);
  const openProcess = () =>
    createVerifyAccessToken(
      resources.use(openReadDatabase(stack.environment['DATABASE_URL'] ?? '')),
      RESOURCE,
    );
  const processes = [openProcess(), openProcess()] as const;
  const key = await stack.key();
  // Tokens are decided without read models.
  await stack.stopProjector();
  return {
    stack,
    key,
    connections,
    adapterOf,
    processes,
    allow: async (memberId = key.memberId, role = 'owner') => {
      const grantId = randomUUID();
      const connectionId = connectionIdOf(grantId);
      const { workspaceId } = key;
      await connections.allow({ connectionId, workspaceId, memberId, app: APP, scopes: SCOPES, role });
      return { grantId, connectionId };
    },
    issue: async (grantId, scope = SCOPES.join(' '), aud = RESOURCE) => {
      const token = randomUUID();
      const exp = Math.floor(Date.now() / 1_000) + 3_600;
      const payload = { kind: 'AccessToken', grantId, scope, aud, jti: token, exp };
      await adapterOf('AccessToken').upsert(token, payload, 3_600);
      return token;
    },
    historyOf: async (connectionId) => {
      const events: ConnectionEvent[] = [];
      const stream = connectionStream(key.workspaceId, connectionId);
      for await (const event of stack.eventStore.read<ConnectionEvent>(stream)) events.push(event);
      return events;
    },
    rowOf: async (connectionId) => {
      const rows = await connections.list(key.workspaceId);
      const found = rows.find((row) => row.connection_id === connectionId);
      if (!found) throw new Error('no such connection');
      return found;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
