import { statementNames } from '#platform/postgres/statement-names.ts';
import { type Database, openPool, type PoolSettings } from '#platform/postgres/pool.ts';

/** Rows of a batch up to which a plan for any values is fast. Larger batches are planned for their values. */
const SMALL_ROWS = 20;
const GENERIC_PLANS = { options: '-c plan_cache_mode=force_generic_plan' };

const isSmall = (values: readonly unknown[]): boolean =>
  values.every((value) => !Array.isArray(value) || value.length <= SMALL_ROWS);

/** Plans statements with few rows once on each connection, as the projector does; tests would mostly plan otherwise. */
export const openPlannedOnce = (url: string, max: number, settings: PoolSettings = {}): Database => {
  const pool = openPool(url, max, { ...settings, ...GENERIC_PLANS });
  const statementOf = statementNames();
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...values: unknown[]) => unknown;
    const queryNamed = (statement: unknown, values: unknown, ...rest: unknown[]): unknown =>
      typeof statement === 'string' && Array.isArray(values) && isSmall(values)
        ? query({ ...statementOf(statement), values }, ...rest)
        : query(statement, values, ...rest);
    Object.assign(client, { query: queryNamed });
  });
  return pool;
};
