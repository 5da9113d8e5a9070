import { AsyncLocalStorage } from 'node:async_hooks';
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

/** Milliseconds between two timeouts of statements that a session is set to, so that few statements set another one. */
const STEP_MS = 500;

type Callback = (...results: unknown[]) => void;
type Call = (...values: unknown[]) => unknown;

const ignore = (): void => undefined;

/** Returns the statement timeout for the server: what is left, in whole steps, or the pool's own. */
export const serverTimeoutMs = (ownMs: number): number => {
  const leftMs = timeLeft(ownMs);
  return leftMs >= ownMs ? ownMs : Math.min(ownMs, Math.max(1, Math.ceil(leftMs / STEP_MS)) * STEP_MS);
};

/**
 * Shortens the statement timeout of the session before a statement of a request with little time left, and sets it back before
 * one that may take longer. Throws `TimeUsedUp` instead of sending a statement after the end of the budget.
 */
const boundStatements = (client: ClientBase, ownMs: number, silenceMarginMs: number): void => {
  const query = client.query.bind(client) as Call;
  /** The timeout that the session is set to. */
  let setMs = ownMs;
  const setTimeoutTo = (ms: number): void => {
    setMs = ms;
    query(`set statement_timeout = ${ms}`, (error: unknown) => {
      if (error) setMs = Number.NaN;
    });
  };
  const boundQuery: Call = (statement, values, callback) => {
    requireTime();
    const wantedMs = serverTimeoutMs(ownMs);
    if (wantedMs !== setMs) setTimeoutTo(wantedMs);
    // A cursor or a copy has no limit for its whole answer.
    if (wantedMs === ownMs || typeof (statement as { submit?: unknown }).submit === 'function') {
      return query(statement, values, callback);
    }
    const config = typeof statement === 'string' ? { text: statement } : (statement as QueryConfig);
    return query({ ...config, query_timeout: wantedMs + silenceMarginMs }, values, callback);
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
