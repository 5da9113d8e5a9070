import { MINUTE_MS } from '#contracts/values/time.ts';

/** Milliseconds for which a process owns a row of work. The row is given to another one after them. */
export const ROW_LEASE_MS = MINUTE_MS;
/** Milliseconds between two extensions: three within a lease, so that one may fail. */
const ROW_LEASE_EXTENSION_MS = 20_000;

/**
 * SQL of the time by which leases of rows begin and end. It is the clock of Postgres, because those of two hosts differ: the one
 * that is ahead would take what the other still holds. `parameter`: a time that replaces it in tests, otherwise null.
 */
export const leaseTimeSql = (parameter: string): string => `coalesce(${parameter}::timestamptz, now())`;

/** SQL of the end of a lease that begins now. */
export const leaseEndSql = (parameter: string): string =>
  `${leaseTimeSql(parameter)} + interval '${ROW_LEASE_MS} milliseconds'`;

/** Thrown when another process owns the row now. Nothing was written. */
export class RowLeaseLost extends Error {
  constructor(what: string) {
    super(`The lease of ${what} was lost.`);
    this.name = 'RowLeaseLost';
  }
}

/**
 * Extends the lease of a row until disposed. Aborts the work with `lost` when `extend` throws `RowLeaseLost`. After another
 * error, such as Postgres being away, the lease runs on; the next commit of the work proves it.
 */
export const extendRowLease = (extend: () => Promise<void>, lost: AbortController): Disposable => {
  const tryToExtend = async (): Promise<void> => {
    try {
      await extend();
    } catch (error) {
      if (error instanceof RowLeaseLost) lost.abort(error);
    }
  };
  const timer = setInterval(() => void tryToExtend(), ROW_LEASE_EXTENSION_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
};
