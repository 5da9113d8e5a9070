import { Client } from 'pg';

/** Namespace of the advisory locks that say who does what only one may do at a time. */
const LOCK_CLASS = 7_201;

/** What this process alone does: one owner each, by a lock that ends with its connection. */
export type Ownership = AsyncDisposable & {
  /** Takes what has this name if nobody else has it. */
  acquire(name: string): Promise<boolean>;
  /** Aborted when the connection, and with it all locks, is lost. */
  readonly lost: AbortSignal;
};

export const openOwnership = async (databaseUrl: string): Promise<Ownership> => {
  const client = new Client({
    connectionString: databaseUrl,
    keepAlive: true,
    application_name: 'ownership',
  });
  const lost = new AbortController();
  client.on('error', () => lost.abort());
  client.on('end', () => lost.abort());
  await client.connect();
  return {
    lost: lost.signal,
    acquire: async (name) => {
      const { rows } = await client.query<{ got: boolean }>(
        'select pg_try_advisory_lock($1, hashtext($2)) as got',
        [LOCK_CLASS, name],
      );
      return rows[0]?.got === true;
    },
    [Symbol.asyncDispose]: () => client.end().catch(() => undefined),
  };
};
