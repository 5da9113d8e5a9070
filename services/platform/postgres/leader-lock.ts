import { Client } from 'pg';
import { LEADER_LOCK_CLASS } from '#contracts/ports/advisory-locks.ts';
import { closeClient, endWhenSilent, probeWhileQuiet, SERVER_KEEP_ALIVE } from './silence.ts';

/** Milliseconds to open the connection, and for each of its statements. */
const TIMEOUT_MS = 5_000;

/** SQL condition: a process anywhere holds the leader lock whose name is in the column. */
export const isHeldSql = (column: string): string =>
  `exists (select from pg_locks k where k.locktype = 'advisory' and k.granted and k.objsubid = 2
     and k.database = (select oid from pg_database where datname = current_database())
     and k.classid::bigint = ${LEADER_LOCK_CLASS} and k.objid::bigint = (hashtext(${column})::bigint & 4294967295))`;

/** Leader locks of one process: session-level advisory locks, which end with their connection. */
export type LeaderLocks = AsyncDisposable & {
  /** Takes the lock of this name. Returns false when another process holds it. */
  acquire(name: string): Promise<boolean>;
  /** Releases a lock once. A lock that was acquired twice must be released twice. */
  release(name: string): Promise<void>;
  /** Aborted when the connection, and with it every lock, is lost. */
  readonly lost: AbortSignal;
};

/** Opens a connection of its own for leader locks. */
export const openLeaderLocks = async (databaseUrl: string): Promise<LeaderLocks> => {
  const client = new Client({
    connectionString: databaseUrl,
    keepAlive: true,
    options: SERVER_KEEP_ALIVE,
    connectionTimeoutMillis: TIMEOUT_MS,
    statement_timeout: TIMEOUT_MS,
    application_name: 'leader-locks',
  });
  const lost = new AbortController();
  client.on('error', () => lost.abort());
  client.on('end', () => lost.abort());
  await client.connect();
  // A server that is silent may have given the locks to another process.
  const awaiting = endWhenSilent(client, TIMEOUT_MS);
  probeWhileQuiet(client);
  return {
    lost: lost.signal,
    acquire: async (name) => {
      const { rows } = await awaiting(
        client.query<{ acquired: boolean }>('select pg_try_advisory_lock($1, hashtext($2)) as acquired', [
          LEADER_LOCK_CLASS,
          name,
        ]),
      );
      return rows[0]?.acquired === true;
    },
    release: async (name) => {
      await awaiting(client.query('select pg_advisory_unlock($1, hashtext($2))', [LEADER_LOCK_CLASS, name]));
    },
    [Symbol.asyncDispose]: () => closeClient(client),
  };
};
