import { Client } from 'pg';

/** Namespace of the advisory locks that say who does what only one may do at a time. */
const LOCK_CLASS = 7_201;

/** SQL that says whether somebody, anywhere, has what the column names. */
export const isHeldSql = (column: string): string =>
  `exists (select from pg_locks k where k.locktype = 'advisory' and k.granted and k.objsubid = 2
     and k.database = (select oid from pg_database where datname = current_database())
     and k.classid::bigint = ${LOCK_CLASS} and k.objid::bigint = (hashtext(${column})::bigint & 4294967295))`;

/** What this process alone does: one owner each, by a lock that ends with its connection. */
export type Ownership = AsyncDisposable & {
  /** Takes what has this name if nobody else has it. */
  acquire(name: string): Promise<boolean>;
  /** Gives back what was taken as often as this. */
  release(name: string): Promise<void>;
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
    release: async (name) => {
      await client.query('select pg_advisory_unlock($1, hashtext($2))', [LOCK_CLASS, name]);
    },
    [Symbol.asyncDispose]: () => client.end().catch(() => undefined),
  };
};
