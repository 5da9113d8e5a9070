import { type ClientBase, Pool, type PoolClient, type PoolConfig } from 'pg';
import type { Socket } from 'node:net';
import { requireTime } from '../concurrency/time-budget.ts';
import { meterPool } from '../telemetry/metrics.ts';
import { isConnectionFailure } from './connection-failure.ts';
import { SERVER_OPTIONS } from './server-options.ts';
import { statementNames } from './statement-names.ts';

/** Limit of opening a connection, and of waiting for a free one. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Statement limit of rebuilds, verification and exports. */
export const LONG_STATEMENT_TIMEOUT_MS = 30 * 60_000;
/** Statement limit of pools without one of their own. */
const BACKGROUND_STATEMENT_TIMEOUT_MS = 20_000;
/** The client gives a silent connection up this long after the server's timeout. */
export const SILENCE_MARGIN_MS = 1_000;
/** After this quiet time the kernel probes the connection. */
export const KEEP_ALIVE_MS = 5_000;
/** Closes idle connections early, so that one that died without a word fails no request later. */
const REQUEST_IDLE_MS = 3_000;

export type Database = Pool;
export type Transaction = PoolClient;

/** `connection.stream` of `pg` is not documented. */
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
  | 'pipeline'
> & { readonly statement_timeout?: number };

/** `answerMs` limits opening, waiting and each statement, which the server cancels half a second sooner. */
export const requestPoolSettings = (answerMs: number) =>
  ({
    connectionTimeoutMillis: answerMs,
    idleTimeoutMillis: REQUEST_IDLE_MS,
    statement_timeout: Math.ceil(answerMs * 0.8),
    query_timeout: answerMs,
  }) satisfies PoolSettings;

/** For writes, long queries and COPY. A statement throws soon after `statement_timeout`, also without an answer. */
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
  // An idle connection that breaks would end the process without a listener.
  pool.on('error', () => undefined);
  // The next query on a broken connection rejects, and the caller handles that.
  pool.on('connect', (client) => client.on('error', () => undefined));
  meterPool(pool);
  return pool;
};

/** Avoids plans that read whole tables: PostgreSQL makes them while tables are small, and keeps them. */
const INDEXED_PLANS = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off';

/** Names statements: a connection plans each once. For rows found by an index with any values. */
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

/** Throws when this process may not write any more. Locks what it reads up to the end of the transaction. */
export type Proof = (client: Transaction) => Promise<void>;

const proofs = new WeakMap<Database, Proof>();

/** Adds the proof to each transaction. Single statements have none. */
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

/**
 * A connection with `pipeline` sends `begin`, the statements that `work` starts with, and the proof in one write, because a
 * round trip costs more than a small statement.
 */
const beginPipelined = async <T>(
  client: Transaction,
  work: (client: Transaction) => Promise<T>,
  prove: Proof | undefined,
): Promise<T> => {
  const stream = socketOf(client);
  stream.cork();
  const begun = client.query('begin');
  const working = (async () => work(client))();
  const proven = prove?.(client);
  stream.uncork();
  const [result] = await Promise.all([working, begun, proven]);
  return result;
};

const beginSequential = async <T>(
  client: Transaction,
  work: (client: Transaction) => Promise<T>,
  prove: Proof | undefined,
): Promise<T> => {
  await client.query('begin');
  const result = await work(client);
  await prove?.(client);
  return result;
};

/** Rolls back when `work` throws or the time of its request is over. */
export const inTransaction = async <T>(
  pool: Database,
  work: (client: Transaction) => Promise<T>,
): Promise<T> => {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    const begin = client.pipeline ? beginPipelined : beginSequential;
    const result = await begin(client, work, proofs.get(pool));
    // The caller has been refused, so nothing of its request is recorded.
    requireTime();
    await client.query('commit');
    return result;
  } catch (error) {
    // Closing a failed connection makes the server roll back.
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
