import { AsyncLocalStorage } from 'node:async_hooks';
import { callbackify } from 'node:util';
import type { ClientBase, Pool, PoolClient, QueryConfig } from 'pg';
import {
  timeLeft,
  TimeUsedUp,
  hasTimeBudget,
  requireTime,
  untilTimeUsedUp,
} from '../concurrency/time-budget.ts';
import { isConnectionFailure } from './connection-failure.ts';

/** Gives the statements of a request what is left of its time, at the server and here. */

/** Milliseconds between two timeouts of statements, so that few statements of a transaction set another one. */
const STEP_MS = 500;

type Callback = (...results: unknown[]) => void;
type Call = (...values: unknown[]) => unknown;
/** `query_timeout`: milliseconds after which the client gives the connection up. The types of `pg` do not have it. */
type BoundQuery = QueryConfig & { readonly query_timeout: number };

const ignore = (): void => undefined;

const BEGINS_TRANSACTION = /^\s*(?:begin|start transaction)\b/i;
const ENDS_TRANSACTION = /^\s*(?:commit|end|abort|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b))\b/i;

/** Returns the statement timeout for the server: what is left, in whole steps, or the pool's own. */
export const serverTimeoutMs = (ownMs: number): number => {
  const leftMs = timeLeft(ownMs);
  return leftMs >= ownMs ? ownMs : Math.min(ownMs, Math.max(1, Math.ceil(leftMs / STEP_MS)) * STEP_MS);
};

/**
 * Returns the statement that gives the transaction in progress a timeout. `local`: behind a pooler of transactions, a setting
 * of the session would apply to the statements of another client.
 */
export const setTimeoutTo = (ms: number): string => `set local statement_timeout = ${ms}`;

/**
 * Shortens the statement timeout at the server for the statements of a request with little time left. A statement outside a
 * transaction gets one of its own for that. Throws `TimeUsedUp` instead of sending a statement after the end of the budget.
 */
const boundStatements = (client: ClientBase, ownMs: number, silenceMarginMs: number): void => {
  const query = client.query.bind(client) as Call;
  const run = query as (...values: unknown[]) => Promise<unknown>;
  let isInTransaction = false;
  /** The timeout that the transaction in progress is set to. */
  let setMs = ownMs;

  const runInTransaction = async (ms: number, statement: BoundQuery, values: unknown): Promise<unknown> => {
    if (ms !== setMs) {
      setMs = ms;
      await run({ text: setTimeoutTo(ms), query_timeout: statement.query_timeout });
    }
    return run(statement, values);
  };
  const runAlone = async (ms: number, statement: BoundQuery, values: unknown): Promise<unknown> => {
    const { query_timeout } = statement;
    await run({ text: `begin; ${setTimeoutTo(ms)}`, query_timeout });
    try {
      const result = await run(statement, values);
      await run({ text: 'commit', query_timeout });
      return result;
    } catch (error) {
      // A connection that failed is closed, and with it the server rolls back.
      if (!isConnectionFailure(error)) await run({ text: 'rollback', query_timeout }).catch(ignore);
      throw error;
    }
  };

  const boundQuery: Call = (statement, values, callback) => {
    requireTime();
    const wantedMs = serverTimeoutMs(ownMs);
    // A cursor or a copy has no limit for its whole answer.
    if (typeof (statement as { submit?: unknown }).submit === 'function')
      return query(statement, values, callback);
    const config = typeof statement === 'string' ? { text: statement } : (statement as QueryConfig);
    const begins = BEGINS_TRANSACTION.test(config.text);
    const ends = ENDS_TRANSACTION.test(config.text);
    if (begins || ends) {
      isInTransaction = begins;
      setMs = ownMs;
    }
    if (wantedMs === ownMs && setMs === ownMs) return query(statement, values, callback);
    const bound = { ...config, query_timeout: wantedMs + silenceMarginMs };
    if (begins || ends) return query(bound, values, callback);
    const [parameters, done] = typeof values === 'function' ? [undefined, values] : [values, callback];
    const send = isInTransaction ? runInTransaction : runAlone;
    const answer = send(wantedMs, bound, parameters);
    if (typeof done !== 'function') return answer;
    callbackify(() => answer)(done as Callback);
    return undefined;
  };
  Object.assign(client, { query: boundQuery });
};

/**
 * Bounds the waits of a pool by the budget of the caller: for a connection, and for its statements. `ownMs`: the statement
 * timeout of the pool. `silenceMarginMs`: milliseconds after the server's timeout at which a connection is given up.
 */
export const boundByTimeBudget = (pool: Pool, ownMs: number, silenceMarginMs: number): void => {
  const query = pool.query.bind(pool) as Call;
  const connect = pool.connect.bind(pool) as (callback?: Callback) => Promise<PoolClient>;

  const connectInTime = async (): Promise<PoolClient> => {
    requireTime();
    const opening = connect();
    try {
      return await untilTimeUsedUp(opening);
    } catch (error) {
      if (error instanceof TimeUsedUp) opening.then((client) => client.release(), ignore);
      throw error;
    }
  };
  /** Runs one statement. Its connection is free again when the server has answered, even if the caller has left. */
  const queryInTime = async (values: readonly unknown[]): Promise<unknown> => {
    const client = await connectInTime();
    let broken: Error | undefined;
    try {
      return await (client.query as Call)(...values);
    } catch (error) {
      if (isConnectionFailure(error)) broken = error as Error;
      throw error;
    } finally {
      client.release(broken);
    }
  };

  pool.on('connect', (client) => boundStatements(client, ownMs, silenceMarginMs));
  Object.assign(pool, {
    connect: (callback?: Callback) => {
      // A pool calls back in the context of the caller that released the connection.
      if (callback !== undefined) return connect(AsyncLocalStorage.bind(callback));
      return hasTimeBudget() ? connectInTime() : connect();
    },
    query: (...values: unknown[]) =>
      hasTimeBudget() && typeof values.at(-1) !== 'function'
        ? untilTimeUsedUp(queryInTime(values))
        : query(...values),
  });
};
