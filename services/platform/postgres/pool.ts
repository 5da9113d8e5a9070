import {
  Client,
  type ClientBase,
  Pool,
  type PoolClient,
  type PoolConfig,
  type QueryConfig,
  type QueryResult,
} from 'pg';
import type { ReadDatabase, ReadQuery } from '#contracts/ports/read-database.ts';
import { outsideTimeBudget, requireTime, untilTimeUsedUp } from '../concurrency/time-budget.ts';
import { meterPool } from '../telemetry/metrics.ts';
import { boundByTimeBudget, serverTimeoutMs, setTimeoutTo } from './bounded-statements.ts';
import { isConnectionFailure } from './connection-failure.ts';
import { createHotConnections } from './hot-connections.ts';
import { lowerServerPriority } from './server-process-priority.ts';
import { closeClient, endWhenSilent, probeWhileQuiet } from './silence.ts';
import { SERVER_OPTIONS } from './server-options.ts';
import { createStatementSpeed } from './statement-speed.ts';
import { statementNames } from './statement-names.ts';

/** Milliseconds to open a connection, or to wait for a free one of a pool. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Pipelined connections of a read database for hot reads. Each carries many concurrent queries. */
const HOT_CLIENTS = 4;
/**
 * Maximum connections of a read database for statements that are not known to be fast: one for each that may run, which are 6 slow
 * ones and 4 of statements that are not measured yet (`operations/dependencies/heavy-reads.ts`), and those for fast statements.
 */
const UNPROVEN_CLIENTS = 14;
/** Maximum of them for fast statements while slow runs occupy all hot connections. */
const FAST_ON_UNPROVEN_CLIENTS = 4;
/** Maximum connections of a read database for searches. */
const SLOW_POOL_CLIENTS = 6;
/** Milliseconds after which the server cancels a hot read. */
const HOT_STATEMENT_TIMEOUT_MS = 4_000;
/** Code of PostgreSQL for a statement that ran into its timeout. */
const STATEMENT_CANCELLED = '57014';
/** Milliseconds without a byte after which a connection for hot reads is replaced. */
const HOT_SILENCE_MS = 5_000;
/** Milliseconds after which the server cancels a search, so that it does not occupy a connection. */
const SLOW_STATEMENT_TIMEOUT_MS = 5_000;
/** Milliseconds after which the server cancels a statement of a command, or of another request that a person waits for. */
export const REQUEST_STATEMENT_TIMEOUT_MS = 5_000;
/** Milliseconds after which the server cancels a statement that reads or writes whole tables: rebuilds, verification, exports. */
export const LONG_STATEMENT_TIMEOUT_MS = 30 * 60_000;
/** Milliseconds after which the server cancels a statement of background work, unless its pool says otherwise. */
const BACKGROUND_STATEMENT_TIMEOUT_MS = 20_000;
/** Milliseconds after the server's timeout at which the client gives the connection up: the server has not answered. */
const SILENCE_MARGIN_MS = 1_000;
/** Milliseconds of quiet after which the kernel asks whether the other end of a connection is there. */
const KEEP_ALIVE_MS = 5_000;

export type Database = Pool;
export type Transaction = PoolClient;

/** Finds idle connections that were cut off without a word, before they are used. */
const probeIdle = (pool: Pool): void => {
  const inUse = new WeakSet<ClientBase>();
  pool.on('acquire', (client) => inUse.add(client));
  pool.on('release', (_error, client) => inUse.delete(client));
  pool.on('connect', (client) => outsideTimeBudget(() => probeWhileQuiet(client, () => !inUse.has(client))));
};

export type PoolSettings = Pick<
  PoolConfig,
  'application_name' | 'options' | 'connectionTimeoutMillis' | 'allowExitOnIdle'
> & {
  /** Milliseconds after which the server cancels a statement. */
  readonly statement_timeout?: number;
};

/**
 * Opens an ordinary connection pool for writes, long queries and COPY. `max`: maximum connections. A statement throws when
 * the server takes longer than `statement_timeout`, and soon after when it does not answer at all. In a time budget, both
 * that and the wait for a connection end with it.
 */
export const openPool = (url: string, max: number, settings: PoolSettings = {}): Database => {
  const statementMs = settings.statement_timeout ?? BACKGROUND_STATEMENT_TIMEOUT_MS;
  const pool = new Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    ...settings,
    options: `${SERVER_OPTIONS} ${settings.options ?? ''}`,
    statement_timeout: statementMs,
    query_timeout: statementMs + SILENCE_MARGIN_MS,
  });
  // An idle connection that breaks is replaced on next use; without a listener it would end the process.
  pool.on('error', () => undefined);
  // The same for a connection in use: its next query rejects, and the caller handles that.
  pool.on('connect', (client) => client.on('error', () => undefined));
  boundByTimeBudget(pool, statementMs, SILENCE_MARGIN_MS);
  probeIdle(pool);
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

/** Runs `work` in one transaction; commits when it resolves, rolls back when it throws. */
export const inTransaction = async <T>(
  pool: Database,
  work: (client: Transaction) => Promise<T>,
): Promise<T> => {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await untilTimeUsedUp(work(client));
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

export type OpenReadDatabase = ReadDatabase &
  AsyncDisposable & {
    /** Opens the connections for hot reads before the first request needs them. A failure shows with the first read. */
    connect(): Promise<void>;
  };

export type ReadDatabaseLimits = {
  /** Milliseconds after which the server cancels a hot read; `HOT_STATEMENT_TIMEOUT_MS` when absent. */
  readonly hotTimeoutMs?: number;
};

/**
 * Opens the database of the read side. `query` runs named statements on pipelined connections, for hot reads. A statement
 * that was slow lately, or has not run yet, runs on a connection of its own, so that no fast one waits behind it. `slow`
 * uses an ordinary pool with custom plans, for searches. A connection that is lost or silent is opened again on next use.
 */
export const openReadDatabase = (
  url: string,
  { hotTimeoutMs = HOT_STATEMENT_TIMEOUT_MS }: ReadDatabaseLimits = {},
): OpenReadDatabase => {
  const slow = openPool(url, SLOW_POOL_CLIENTS, {
    statement_timeout: SLOW_STATEMENT_TIMEOUT_MS,
    options: '-c plan_cache_mode=force_custom_plan -c max_parallel_workers_per_gather=0',
  });
  slow.on('connect', lowerServerPriority);
  const unproven = openPool(url, UNPROVEN_CLIENTS, { statement_timeout: HOT_STATEMENT_TIMEOUT_MS });
  const speed = createStatementSpeed();
  /** The SQL tag of slonik writes `$slonik_1` instead of `$1`. */
  const statementOf = statementNames((sql) => sql.replaceAll('$slonik_', '$'));

  const hot = createHotConnections(HOT_CLIENTS, async (forget) => {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      options: SERVER_OPTIONS,
      statement_timeout: hotTimeoutMs,
      pipeline: true,
    });
    client.on('error', forget);
    client.on('end', forget);
    await client.connect();
    const send = endWhenSilent(client, Math.max(HOT_SILENCE_MS, hotTimeoutMs + SILENCE_MARGIN_MS));
    outsideTimeBudget(() => probeWhileQuiet(client));
    return { client, send };
  });

  /** A statement that the server cancelled counts as a slow run; otherwise its speed would never be known. */
  const noteTimeout = (sql: string, error: unknown): void => {
    if ((error as { readonly code?: unknown }).code === STATEMENT_CANCELLED)
      speed.ran(sql, HOT_STATEMENT_TIMEOUT_MS);
  };
  const runUnproven = async ({ sql, values }: ReadQuery): Promise<QueryResult> => {
    const client = await unproven.connect();
    const since = performance.now();
    let broken: Error | undefined;
    try {
      const result = await client.query(statementOf(sql).text, values as unknown[]);
      speed.ran(sql, performance.now() - since);
      return result;
    } catch (error) {
      if (isConnectionFailure(error)) broken = error as Error;
      noteTimeout(sql, error);
      throw error;
    } finally {
      client.release(broken);
    }
  };
  /** Sends a hot read. One with little time left gets a transaction with a shorter timeout at the server, in the same write. */
  const sendHot = (client: Client, statement: QueryConfig): Promise<QueryResult> => {
    requireTime();
    const timeoutMs = serverTimeoutMs(hotTimeoutMs);
    if (timeoutMs === hotTimeoutMs) return client.query(statement);
    const sendAlong = (sql: string): void => void client.query(sql).catch(() => undefined);
    sendAlong('begin');
    sendAlong(setTimeoutTo(timeoutMs));
    const answer = client.query(statement);
    sendAlong('commit');
    return answer;
  };
  const runHot = async ({ sql, values }: ReadQuery): Promise<QueryResult> => {
    const run = hot.run((client) => sendHot(client, { ...statementOf(sql), values: values as unknown[] }));
    const { answer, ms } = await run.catch((error: unknown) => {
      noteTimeout(sql, error);
      throw error;
    });
    speed.ran(sql, ms);
    return answer;
  };

  let fastInFlight = 0;
  const hasFreeUnproven = (): boolean =>
    fastInFlight < FAST_ON_UNPROVEN_CLIENTS &&
    unproven.waitingCount === 0 &&
    (unproven.idleCount > 0 || unproven.totalCount < UNPROVEN_CLIENTS);
  /**
   * A fast statement has slow runs, too, such as those for a large brand. While they occupy all hot connections, other
   * fast reads take a connection of the unproven ones if one is free.
   */
  const runFast = async (statement: ReadQuery): Promise<QueryResult> => {
    if (hot.hasFree() || !hasFreeUnproven()) return runHot(statement);
    fastInFlight += 1;
    try {
      return await runUnproven(statement);
    } finally {
      fastInFlight -= 1;
    }
  };

  return {
    speedOf: (sql) => speed.speedOf(sql),
    forgetSpeed: (sql) => speed.forget(sql),
    query: async <Row>(statement: ReadQuery) => {
      const run = speed.isFast(statement.sql) ? runFast(statement) : runUnproven(statement);
      const { rows } = await untilTimeUsedUp(run);
      return rows as readonly Row[];
    },
    slow: async <Row>({ sql, values }: ReadQuery) => {
      const { rows } = await slow.query(statementOf(sql).text, values as unknown[]);
      return rows as readonly Row[];
    },
    connect: () => hot.connect(),
    [Symbol.asyncDispose]: async () => {
      await Promise.all((await hot.close()).map(({ client }) => closeClient(client)));
      await Promise.all([slow.end(), unproven.end()]);
    },
  };
};
