import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { BRAND_LOCK_CLASS, PAGE_LOCK_CLASS } from '#contracts/ports/advisory-locks.ts';
import { pause } from '#platform/clock.ts';
import { openPool } from '#platform/postgres/pool.ts';

/**
 * Maximum locks of a process at once, of brands and of places each. `INGEST_LANES` is 6 by default; scans beyond this number
 * wait for those before them.
 */
const LOCKS_MAX = 8;
/** Milliseconds to wait for the lock of another process. */
const LOCK_WAIT_MS = 60_000;
/** Milliseconds without a statement after which Postgres ends the transaction of a lock: its process was stopped. */
const LOCK_SILENCE_MS = 5_000;
/** Milliseconds between two statements of a process that holds a lock. */
const TOUCH_EVERY_MS = 1_000;
/** Milliseconds for the answer to a statement that proves a lock. */
const PROOF_ANSWER_MS = 5_000;

/** Thrown by `prove` when a lock was lost during the work: another process may have taken it. Do the work again. */
export class LockLost extends Error {
  constructor(cause: unknown) {
    super('a lock on a brand or on places was lost during the work', { cause });
    this.name = 'LockLost';
  }
}

/**
 * Locks on brands and on places, which are social pages and domains, for work that runs at once in one process or in
 * several. Without the first, a scan of many appends loses each append to the small scans of another process, until its
 * retries are used up, and a link of a brand does not see the scan that is being decided for the brand. Without the second,
 * a scan that shows an ad does not see another scan of its page for another brand, or a link of its page, or the
 * registration of the domain that it leads to, and they do not see the scan. Work that cannot get a lock is done without it:
 * the expected revision of each append keeps the log correct.
 *
 * A lock belongs to a transaction that stays open meanwhile, not to a session: behind a connection pooler the statement that
 * unlocks may reach another session, and the lock would stay for ever. The transaction reads and writes nothing, so it
 * holds up no vacuum. While the work goes on, a statement each `TOUCH_EVERY_MS` keeps it; Postgres ends the transaction of a
 * process that was stopped, and the work of that process must prove its locks before it appends.
 */
export type BrandLocks = {
  /** Runs `work` with the lock of this name, which one process has at a time. Waits at most `LOCK_WAIT_MS` for it. */
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Runs `work` with the locks of these places. `work` may take the lock of a brand, but not of places. */
  runOnPlaces<T>(places: Places, work: () => Promise<T>): Promise<T>;
  /** Proves that the work in which it is called still holds the locks that it got. Throws `LockLost`. */
  prove(): Promise<void>;
};

/** Places that work needs. */
export type Places = {
  /** Ids of pages and domains on which no other work may run meanwhile. */
  readonly alone: readonly string[];
  /** Domains that no other work may register meanwhile. */
  readonly shared?: readonly string[];
};

/** Runs work without locks. */
export const NO_LOCKS: BrandLocks = {
  run: (_name, work) => work(),
  runOnPlaces: (_places, work) => work(),
  prove: () => Promise.resolve(),
};

/** Sends a statement on the connection of a lock. It fails when the server has ended the transaction. */
const touch = (client: PoolClient): Promise<unknown> => {
  // The types of `pg` do not have `query_timeout`.
  const statement = { text: 'select 1', query_timeout: PROOF_ANSWER_MS };
  return client.query(statement);
};

/** Keeps a lock until disposed. A lock that is lost all the same shows when it is proven. */
const keep = (client: PoolClient): Disposable => {
  const ended = new AbortController();
  const keeping = async (): Promise<void> => {
    for (;;) {
      await pause(TOUCH_EVERY_MS, ended.signal);
      if (ended.signal.aborted) return;
      await touch(client);
    }
  };
  keeping().catch(() => undefined);
  return { [Symbol.dispose]: () => ended.abort() };
};

/** Returns the number of a place's lock: one of 256, so that a scan of thousands of pages takes few locks. */
const placeLockOf = (place: string): number => createHash('sha256').update(place).digest().readUInt8();

/** Returns a statement that takes the locks in the order of their numbers, so that two scans cannot wait for each other. */
const lockPlaces = ({ alone, shared = [] }: Places): string => {
  const exclusive = new Set(alone.map(placeLockOf));
  const numbers = [...new Set([...exclusive, ...shared.map(placeLockOf)])].toSorted((a, b) => a - b);
  const taken = numbers.map(
    (number) =>
      `pg_advisory_xact_lock${exclusive.has(number) ? '' : '_shared'}(${PAGE_LOCK_CLASS}, ${number})`,
  );
  return `select ${taken.join(', ')}`;
};

/** Opens locks with a few connections of their own, since a lock holds its connection. */
export const openBrandLocks = (
  databaseUrl: string,
  waitMs: number = LOCK_WAIT_MS,
): BrandLocks & AsyncDisposable => {
  const open = (): Pool =>
    openPool(databaseUrl, LOCKS_MAX, {
      application_name: 'ingest-locks',
      // Above the wait for a lock, so that the wait ends first.
      statement_timeout: waitMs + 5_000,
    });
  // Work on places takes the lock of a brand while it holds its own: from one pool, all of it could wait for a connection.
  const [ofBrands, ofPlaces] = [open(), open()];

  /** Returns the connection that holds the locks; `null` when the wait took too long or the server is down. */
  const lock = async (pool: Pool, statement: (client: PoolClient) => string) => {
    const client = await pool.connect().catch(() => null);
    if (client === null) return null;
    try {
      // A statement with separate values would keep its snapshot until the end of the transaction, and hold up vacuum.
      await client.query(
        `begin; set local lock_timeout = ${waitMs}; set local idle_in_transaction_session_timeout = ${LOCK_SILENCE_MS}; ${statement(client)}`,
      );
      return client;
    } catch {
      // Closed, not returned: whether the lock was taken is unknown when the connection broke.
      client.release(true);
      return null;
    }
  };

  const unlock = async (client: PoolClient): Promise<void> => {
    try {
      await client.query('commit');
      client.release();
    } catch {
      client.release(true);
    }
  };

  const held = new AsyncLocalStorage<readonly PoolClient[]>();
  const holding = async <T>(locked: Promise<PoolClient | null>, work: () => Promise<T>): Promise<T> => {
    const client = await locked;
    if (client === null) return await work();
    try {
      using _ = keep(client);
      return await held.run([...(held.getStore() ?? []), client], work);
    } finally {
      // Not awaited: the result does not depend on it, and the pool ends only after all connections are back.
      void unlock(client);
    }
  };

  return {
    run: (name, work) =>
      holding(
        lock(
          ofBrands,
          (client) =>
            `select pg_advisory_xact_lock(${BRAND_LOCK_CLASS}, hashtext(${client.escapeLiteral(name)}))`,
        ),
        work,
      ),
    runOnPlaces: (places, work) =>
      holding(
        lock(ofPlaces, () => lockPlaces(places)),
        work,
      ),
    prove: async () => {
      try {
        await Promise.all((held.getStore() ?? []).map(touch));
      } catch (error) {
        throw new LockLost(error);
      }
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([ofBrands.end(), ofPlaces.end()]);
    },
  };
};
