import type { ClientBase } from 'pg';
import { type Database, openPool, type PoolSettings, socketOf } from './pool.ts';

/** Time after which the server notices a closed connection during a statement, and rolls back. */
const SERVER_NOTICES_MS = 1_000;

/** Pool for long statements that may be ended while they run. */
export type ClosablePool = {
  readonly database: Database;
  /** Statements in progress throw, and the server cancels them. Resolves when every connection is released. */
  close(): Promise<void>;
};

export const openClosablePool = (url: string, max: number, settings: PoolSettings): ClosablePool => {
  const database = openPool(url, max, {
    ...settings,
    options: `${settings.options ?? ''} -c client_connection_check_interval=${SERVER_NOTICES_MS}`,
  });
  const open = new Set<ClientBase>();
  let isClosed = false;
  database.on('connect', (client) => {
    open.add(client);
    if (isClosed) socketOf(client).destroy();
  });
  database.on('remove', (client) => open.delete(client));
  return {
    database,
    close: () => {
      isClosed = true;
      const ended = database.end();
      for (const client of open) socketOf(client).destroy();
      return ended;
    },
  };
};
