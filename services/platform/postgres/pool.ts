import { type ClientBase, Pool, type PoolClient, type PoolConfig } from 'pg';
import type { Socket } from 'node:net';
import { requireTime } from '../concurrency/time-budget.ts';
import { meterPool } from '../telemetry/metrics.ts';
import { isConnectionFailure } from './connection-failure.ts';
import { SERVER_OPTIONS } from './server-options.ts';
import { statementNames } from './statement-names.ts';

/** Milliseconds to open a connection, or to wait for a free one of a pool. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Milliseconds after which the server cancels a statement that reads or writes whole tables: rebuilds, verification, exports. */
export const LONG_STATEMENT_TIMEOUT_MS = 30 * 60_000;
/** Milliseconds after which the server cancels a statement of background work, unless its pool says otherwise. */
const BACKGROUND_STATEMENT_TIMEOUT_MS = 20_000;
/** Milliseconds after the server's timeout at which the client gives the connection up: the server has not answered. */
export const SILENCE_MARGIN_MS = 1_000;
/** Milliseconds of quiet after which the kernel asks whether the other end of a connection is there. */
export const KEEP_ALIVE_MS = 5_000;
/** Milliseconds after which an unused connection for requests is closed, so that one that died without a word fails no request later. */
const REQUEST_IDLE_MS = 3_000;

export type Database = Pool;
export type Transaction = PoolClient;

/** The socket of a client. `connection.stream` of `pg` is not documented. */
export const socketOf = (client: ClientBase): Socket =>
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;

export type PoolSettings = Pick<
  PoolConfig,
  | 'application_name'
  | 'options'
  | 'connectionTimeoutMillis'
  | 'idleTimeoutMillis'
  | 'allowExitOnIdle'
  | 'query_timeout'
> & {
  /** Milliseconds after which the server cancels a statement. */
  readonly statement_timeout?: number;
};

/**
 * Settings of the connections for requests. `answerMs`: milliseconds to open a connection, to wait for a free one, and for a statement.
 * The server cancels a statement half a second sooner, so that a slow server keeps its connections.
 */
export const requestPoolSettings = (answerMs: number) =>
  ({
    connectionTimeoutMillis: answerMs,
    idleTimeoutMillis: REQUEST_IDLE_MS,
    statement_timeout: Math.ceil(answerMs * 0.8),
    query_timeout: answerMs,
  }) satisfies PoolSettings;

/**
 * Opens an ordinary connection pool for writes, long queries and COPY. `max`: maximum connections. A statement throws when
 * the server takes longer than `statement_timeout`, and soon after when it does not answer at all.
 */
export const openPool = (url: string, max: number, settings: PoolSettings = {}): Database => {
  const { statement_timeout: statementMs = BACKGROUND_STATEMENT_TIMEOUT_MS } = settings;
  const pool = new Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    query_timeout: statementMs + SILENCE_MARGIN_MS,
    ...settings,
    options: `${SERVER_OPTIONS} ${settings.options ?? ''}`,
    statement_timeout: statementMs,
  });
  // An idle connection that breaks is replaced on next use; without a listener it would end the process.
  pool.on('error', () => undefined);
  // The same for a connection in use: its next query rejects, and the caller handles that.
  pool.on('connect', (client) => client.on('error', () => undefined));
  meterPool(pool);
  return pool;
};

/**
 * Settings for plans that stay fast while tables grow. PostgreSQL keeps the plan of a named statement. On small tables it
 * prefers plans that read whole tables, and keeps them until the tables are analyzed.
 */
const INDEXED_PLANS = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off';

/**
 * Opens a pool that names each statement with values. A connection parses and plans it once. It is for statements that
 * find their rows by an index with any values. `options`: further options of its connections.
 */
export const openPreparingPool = (url: string, max: number, options = ''): Database => {
  const pool = openPool(url, max, { options: `${INDEXED_PLANS} ${options}` });
  const statementOf = statementNames();
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...values: unknown[]) => unknown;
    const queryNamed = (statement: unknown, values: unknown, ...rest: unknown[]): unknown =>
      typeof statement === 'string' && Array.isArray(values)
        ? query({ ...statementOf(statement), values }, ...rest)
        : query(statement, values, ...rest);
    Object.assign(client, { query: queryNamed });
  });
  return pool;
};

/** Ends a transaction with a proof that this process may still write, or throws. */
export type Proof = (client: Transaction) => Promise<void>;

const proofs = new WeakMap<Database, Proof>();

/** Returns the database with a proof at the end of each of its transactions. Single statements have none. */
export const withProof = (database: Database, prove: Proof): Database => {
  const proving = new Proxy(database, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  proofs.set(proving, prove);
  return proving;
};

/** Runs `work` in one transaction; commits when it resolves, rolls back when it throws or the time of its request is over. */
export const inTransaction = async <T>(
  pool: Database,
  work: (client: Transaction) => Promise<T>,
): Promise<T> => {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    // The caller has been refused: what it asked for is not recorded.
    requireTime();
    await proofs.get(pool)?.(client);
    await client.query('commit');
    return result;
  } catch (error) {
    // A connection that failed is closed, and with it the server rolls back.
    if (isConnectionFailure(error)) broken = error as Error;
    else {
      try {
        await client.query('rollback');
      } catch (rollbackError) {
        broken = rollbackError as Error;
      }
    }
    throw error;
  } finally {
    client.release(broken);
  }
};
