import { Client, Pool, type PoolClient, type PoolConfig } from 'pg';
import type { ReadDatabase, ReadQuery } from '#contracts/ports/read-database.ts';
import type { Writable } from 'node:stream';
import { meterPool } from '../telemetry/metrics.ts';
import { statementNames } from './statement-names.ts';

/** Milliseconds to open a connection. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Pipelined connections per process for hot reads. Each carries many concurrent queries. */
const PIPELINED_CLIENTS = 2;
/** Maximum connections per process for slow queries. */
const SLOW_POOL_CLIENTS = 6;
/** Milliseconds after which the server cancels a hot read. */
const HOT_STATEMENT_TIMEOUT_MS = 10_000;
/** Milliseconds after which the server cancels a search, so that it does not occupy a connection. */
const SLOW_STATEMENT_TIMEOUT_MS = 5_000;

export type Database = Pool;
export type Transaction = PoolClient;

/** Opens an ordinary connection pool for writes, long queries and COPY. `max`: maximum connections. */
export const openPool = (url: string, max: number, settings: PoolConfig = {}): Database => {
  const pool = new Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...settings,
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
 * find their rows by an index with any values.
 */
export const openPreparingPool = (url: string, max: number): Database => {
  const pool = openPool(url, max, { options: INDEXED_PLANS });
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

/** Runs `work` in one transaction; commits when it resolves, rolls back when it throws. */
export const inTransaction = async <T>(
  pool: Database,
  work: (client: Transaction) => Promise<T>,
): Promise<T> => {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    try {
      await client.query('rollback');
    } catch (rollbackError) {
      broken = rollbackError as Error;
    }
    throw error;
  } finally {
    client.release(broken);
  }
};

/**
 * Opens the database of the read side. `query` runs named statements on pipelined connections, for hot reads. `slow`
 * uses an ordinary pool with custom plans, for searches. A lost connection is opened again on next use.
 */
export const openReadDatabase = (url: string): ReadDatabase & AsyncDisposable => {
  const slow = openPool(url, SLOW_POOL_CLIENTS, {
    statement_timeout: SLOW_STATEMENT_TIMEOUT_MS,
    options: '-c plan_cache_mode=force_custom_plan',
  });
  const slots: (Promise<Client> | undefined)[] = Array.from({ length: PIPELINED_CLIENTS });
  let currentSlot = 0;
  let closed = false;
  /** The SQL tag of slonik writes `$slonik_1` instead of `$1`. */
  const statementOf = statementNames((sql) => sql.replaceAll('$slonik_', '$'));

  const open = async (slot: number): Promise<Client> => {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: HOT_STATEMENT_TIMEOUT_MS,
      pipeline: true,
    });
    const forget = (): void => {
      slots[slot] = undefined;
    };
    client.on('error', forget);
    client.on('end', forget);
    await client.connect();
    return client;
  };

  let isCorked = false;
  /**
   * Sends all queries of one event-loop iteration in one write, on one connection. Under load this halves the cost of
   * a small query on client and server. `connection.stream` of `pg` is not documented.
   */
  const corkUntilNextIteration = (client: Client): void => {
    if (isCorked) return;
    isCorked = true;
    const { stream } = (client as unknown as { readonly connection: { readonly stream: Writable } })
      .connection;
    stream.cork();
    setImmediate(() => {
      isCorked = false;
      currentSlot = (currentSlot + 1) % PIPELINED_CLIENTS;
      stream.uncork();
    });
  };

  const clientAt = (slot: number): Promise<Client> => {
    if (closed) throw new Error('The read database is closed.');
    const opened = slots[slot];
    if (opened) return opened;
    const opening = open(slot);
    slots[slot] = opening;
    opening.catch(() => {
      if (slots[slot] === opening) slots[slot] = undefined;
    });
    return opening;
  };

  return {
    query: async <Row>({ sql, values }: ReadQuery) => {
      const client = await clientAt(currentSlot);
      corkUntilNextIteration(client);
      const { rows } = await client.query({ ...statementOf(sql), values: values as unknown[] });
      return rows as readonly Row[];
    },
    slow: async <Row>({ sql, values }: ReadQuery) => {
      const { rows } = await slow.query(statementOf(sql).text, values as unknown[]);
      return rows as readonly Row[];
    },
    [Symbol.asyncDispose]: async () => {
      closed = true;
      await Promise.all(slots.map(async (opened) => (await opened?.catch(() => undefined))?.end()));
      await slow.end();
    },
  };
};
