import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { BRAND_LOCK_CLASS, PAGE_LOCK_CLASS } from '#contracts/ports/advisory-locks.ts';
import { pause } from '#platform/clock.ts';
import { openPool } from '#platform/postgres/pool.ts';

/** Brands and places each. `INGEST_LANES` is 6 by default; further scans wait. */
const LOCKS_MAX = 8;
const LOCK_WAIT_MS = 60_000;
const LOCK_SILENCE_MS = 5_000;
const TOUCH_EVERY_MS = 1_000;
/** Time for the answer to a proof. */
const PROOF_ANSWER_MS = 5_000;

/** Another process may have taken the lock. Repeat the work. */
export class LockLost extends Error {
  constructor(cause: unknown) {
    super('a lock on a brand or on places was lost during the work', { cause });
    this.name = 'LockLost';
  }
}

/**
 * Brand locks keep small scans of other processes from outrunning the appends of a large one. Place locks (pages,
 * domains) make scans, links and registrations of the same ads see each other. Without a lock, expected revisions keep
 * the log correct. A lock is a transaction, because a pooler may send a session's unlock elsewhere. It reads nothing,
 * so vacuum goes on; a statement each `TOUCH_EVERY_MS` keeps it alive. A stopped process loses it, so work proves it
 * before an append.
 */
export type BrandLocks = {
  /** One process at a time. Waits at most `LOCK_WAIT_MS`, then runs without the lock. */
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** `work` may take a brand's lock, but no further places. */
  runOnPlaces<T>(places: Places, work: () => Promise<T>): Promise<T>;
  /** For the work that calls it. Throws `LockLost`. */
  prove(): Promise<void>;
};

export type Places = {
  /** Pages and domains on which no other work may run. */
  readonly alone: readonly string[];
  /** Domains that no other work may register. */
  readonly shared?: readonly string[];
};

export const NO_LOCKS: BrandLocks = {
  run: (_name, work) => work(),
  runOnPlaces: (_places, work) => work(),
  prove: () => Promise.resolve(),
};

/** Fails when the server has ended the transaction. */
const touch = (client: PoolClient): Promise<unknown> => {
  // The types of `pg` do not have `query_timeout`.
  const statement = { text: 'select 1', query_timeout: PROOF_ANSWER_MS };
  return client.query(statement);
};

/** A lost lock shows only when it is proven. */
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

/** One of 256, so that a scan of thousands of pages takes few locks. */
const placeLockOf = (place: string): number => createHash('sha256').update(place).digest().readUInt8();

/** Takes locks in the order of their numbers, so that scans cannot deadlock. */
const lockPlaces = ({ alone, shared = [] }: Places): string => {
  const exclusive = new Set(alone.map(placeLockOf));
  const numbers = [...new Set([...exclusive, ...shared.map(placeLockOf)])].toSorted((a, b) => a - b);
  const taken = numbers.map(
    (number) =>
      `pg_advisory_xact_lock${exclusive.has(number) ? '' : '_shared'}(${PAGE_LOCK_CLASS}, ${number})`,
  );
  return `select ${taken.join(', ')}`;
};

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
  // Two pools: work on places also takes a brand's lock, and could wait for a connection of its own pool for ever.
  const [ofBrands, ofPlaces] = [open(), open()];

  /** `null` when the wait took too long or the server is down. */
  const lock = async (pool: Pool, statement: (client: PoolClient) => string) => {
    const client = await pool.connect().catch(() => null);
    if (client === null) return null;
    try {
      // A statement with separate values would keep its snapshot until the transaction ends, and hold up vacuum.
      await client.query(
        `begin; set local lock_timeout = ${waitMs}; set local idle_in_transaction_session_timeout = ${LOCK_SILENCE_MS}; ${statement(client)}`,
      );
      return client;
    } catch {
      // A broken connection leaves unknown whether the lock was taken, so it is closed.
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
      // Not awaited: nothing depends on it, and the pool ends only after all connections are back.
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
