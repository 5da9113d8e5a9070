import { MINUTE_MS } from '#contracts/values/time.ts';

/** After this the row is given to another process. */
export const ROW_LEASE_MS = MINUTE_MS;
/** A lease has time for three extensions, so that one may fail. */
const ROW_LEASE_EXTENSION_MS = 20_000;

/** Uses the clock of Postgres, because those of two hosts differ. `parameter`: a time for tests, otherwise null. */
export const leaseTimeSql = (parameter: string): string => `coalesce(${parameter}::timestamptz, now())`;

export const leaseEndSql = (parameter: string): string =>
  `${leaseTimeSql(parameter)} + interval '${ROW_LEASE_MS} milliseconds'`;

/** Thrown when another process owns the row. Nothing was written. */
export class RowLeaseLost extends Error {
  constructor(what: string) {
    super(`The lease of ${what} was lost.`);
    this.name = 'RowLeaseLost';
  }
}

/** Aborts `lost` on `RowLeaseLost`. After other errors the lease runs on; the next commit proves it. */
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
