import type { PoolClient } from 'pg';
import { BRAND_LOCK_CLASS } from '#contracts/ports/advisory-locks.ts';
import { openPool } from '#platform/postgres/pool.ts';

/** Maximum locks of a process at once. `INGEST_LANES` is 6 by default; scans beyond this number go without a lock. */
const LOCKS_MAX = 8;
/** Milliseconds to wait for the lock of another process. */
const LOCK_WAIT_MS = 60_000;

/**
 * Locks on brands, for processes that record scans of one brand. Without them a scan of many appends loses each append to
 * the small scans of another process, until its retries are used up. A lock only prevents conflicts: the expected revision
 * of each append keeps the log correct. Work that cannot get a lock is therefore done without it.
 */
export type BrandLocks = {
  /** Runs `work` with the lock of this name, which one process has at a time. Waits at most `LOCK_WAIT_MS` for it. */
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
};

/** Runs work without locks. */
export const NO_LOCKS: BrandLocks = { run: (_name, work) => work() };

/** Opens locks with a few connections of their own, since a lock holds its connection. */
export const openBrandLocks = (
  databaseUrl: string,
  waitMs: number = LOCK_WAIT_MS,
): BrandLocks & AsyncDisposable => {
  const pool = openPool(databaseUrl, LOCKS_MAX, {
    application_name: 'ingest-locks',
    options: `-c lock_timeout=${waitMs}`,
  });

  /** Returns the connection that holds the lock; `null` when the wait took too long or the server is down. */
  const lock = async (name: string): Promise<PoolClient | null> => {
    const client = await pool.connect().catch(() => null);
    if (client === null) return null;
    try {
      await client.query({
        name: 'ingest_lock_brand',
        text: 'select pg_advisory_lock($1, hashtext($2))',
        values: [BRAND_LOCK_CLASS, name],
      });
      return client;
    } catch {
      // Closed, not returned: whether the lock was taken is unknown when the connection broke.
      client.release(true);
      return null;
    }
  };

  const unlock = async (client: PoolClient, name: string): Promise<void> => {
    try {
      await client.query({
        name: 'ingest_unlock_brand',
        text: 'select pg_advisory_unlock($1, hashtext($2))',
        values: [BRAND_LOCK_CLASS, name],
      });
      client.release();
    } catch {
      client.release(true);
    }
  };

  return {
    run: async (name, work) => {
      const client = await lock(name);
      try {
        return await work();
      } finally {
        if (client) await unlock(client, name);
      }
    },
    [Symbol.asyncDispose]: () => pool.end(),
  };
};
