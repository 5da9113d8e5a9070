import { HOUR_MS } from '#contracts/values/time.ts';
import { LRUCache } from 'lru-cache';
import type { Log } from '#platform/logger.ts';
import { outsideTimeBudget } from '#platform/concurrency/time-budget.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Caller } from './key-lease-cache.ts';

/** Milliseconds between two flushes: a key in steady use is written this often. */
const FLUSH_EVERY_MS = 30_000;
/** Milliseconds until the first use after `IN_STEADY_USE_MS` is written. */
const FLUSH_SOON_MS = 1_000;
/** A key counts as in steady use when its last written use is more recent than this, in milliseconds. */
const IN_STEADY_USE_MS = HOUR_MS;
/** Maximum rows per statement. */
const KEYS_PER_STATEMENT = 2_000;
/** Maximum keys whose last written use is cached. The next use of an evicted key is only written sooner. */
const REMEMBERED_MAX = 10_000;

/**
 * Records the last use of each API key and connection without a write per request: uses are buffered in memory and written in
 * batches. A killed process loses its buffer, at most `FLUSH_EVERY_MS` for a key in steady use.
 *
 * The first use after an hour is written within a second. Otherwise another process that revokes unused keys could
 * revoke a key that is in use again.
 */
export type KeyUsage = AsyncDisposable & {
  /** Buffers one use. `atMs`: wall-clock time in milliseconds. */
  record(caller: Pick<Caller, 'workspaceId' | 'keyId'>, atMs: number): void;
  /** Writes all buffered uses. Rejects when the write fails; the uses stay buffered. */
  flush(): Promise<void>;
};

// Rows are written in key order, so two processes cannot deadlock.
const WRITE = `
  insert into access.key_use as held (workspace_id, key_id, last_used_at)
  select workspace_id, key_id, last_used_at
  from unnest($1::text[], $2::text[], $3::text[]) as used(workspace_id, key_id, last_used_at)
  order by workspace_id, key_id
  on conflict (workspace_id, key_id) do update set last_used_at = excluded.last_used_at
  where held.last_used_at < excluded.last_used_at`;

type Use = { readonly workspaceId: string; readonly keyId: string; readonly atMs: number };

export const createKeyUsage = (pool: Database, log: Log): KeyUsage => {
  /** Buffered uses by key id. Key ids collide between workspaces with a probability of 2^-80. */
  let unwritten = new Map<string, Use>();
  const writtenMs = new LRUCache<string, number>({ max: REMEMBERED_MAX });
  let soon: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    const uses = [...unwritten.values()];
    unwritten = new Map();
    for (let from = 0; from < uses.length; from += KEYS_PER_STATEMENT) {
      const some = uses.slice(from, from + KEYS_PER_STATEMENT);
      const times = some.map(({ atMs }) => new Date(atMs).toISOString());
      const [workspaces, keys] = [some.map((use) => use.workspaceId), some.map((use) => use.keyId)];
      try {
        await pool.query(WRITE, [workspaces, keys, times]);
      } catch (error) {
        // Buffers the uses again for the next flush, unless a newer use of the key arrived.
        for (const use of uses.slice(from)) if (!unwritten.has(use.keyId)) unwritten.set(use.keyId, use);
        throw error;
      }
      for (const { keyId, atMs } of some) writtenMs.set(keyId, atMs);
    }
  };

  /** Flushes run one after another, so a flush resolves only after every earlier use is written. */
  const flush = (): Promise<void> => {
    clearTimeout(soon);
    soon = undefined;
    writing = writing.catch(() => undefined).then(write);
    return writing;
  };
  const flushQuietly = (): void => {
    flush().catch((error: unknown) => log.warn({ err: error }, 'key usage flush failed'));
  };

  const flushing = setInterval(flushQuietly, FLUSH_EVERY_MS);
  flushing.unref();

  return {
    record: ({ workspaceId, keyId }, atMs) => {
      unwritten.set(keyId, { workspaceId, keyId, atMs });
      if (soon || atMs - (writtenMs.get(keyId) ?? 0) < IN_STEADY_USE_MS) return;
      soon = outsideTimeBudget(() => setTimeout(flushQuietly, FLUSH_SOON_MS));
      soon.unref();
    },
    flush,
    [Symbol.asyncDispose]: async () => {
      clearInterval(flushing);
      await flush().catch((error: unknown) => log.warn({ err: error }, 'key usage flush failed'));
    },
  };
};

/**
 * Returns the last written use of each active key of a workspace, by key id. Keys never used have no entry. Starts from the active
 * keys: a workspace may have revoked any number.
 */
export const readLastUses = async (
  pool: Database,
  workspaceId: string,
): Promise<ReadonlyMap<string, string>> => {
  const { rows } = await pool.query<{ key_id: string; last_used_at: string }>(
    `select key_id, last_used_at from access.api_key join access.key_use using (workspace_id, key_id)
     where workspace_id = $1 and not revoked`,
    [workspaceId],
  );
  return new Map(rows.map(({ key_id, last_used_at }) => [key_id, last_used_at]));
};
