import { HOUR_MS } from '#contracts/values/time.ts';
import { LRUCache } from 'lru-cache';
import type { Log } from '#platform/logger.ts';
import { outsideTimeBudget } from '#platform/concurrency/time-budget.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Caller } from './key-lease-cache.ts';

const FLUSH_EVERY_MS = 30_000;
const FLUSH_SOON_MS = 1_000;
/** A key whose last written use is more recent is in steady use. */
const IN_STEADY_USE_MS = HOUR_MS;
const KEYS_PER_STATEMENT = 2_000;
/** The next use of an evicted key is only written sooner. */
const REMEMBERED_MAX = 10_000;

/**
 * Buffers uses and writes them in batches. The first use after an hour is written within a second, so that no other
 * process revokes the key as unused. A killed process loses its buffer.
 */
export type KeyUsage = AsyncDisposable & {
  /** `atMs`: milliseconds since 1970. */
  record(caller: Pick<Caller, 'workspaceId' | 'keyId'>, atMs: number): void;
  /** Rejects when the write fails; the uses stay buffered. */
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
  /** Buffered uses by key id. */
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
 * Last uses by key id; none for a key never used. Starts from the active keys: a workspace may have revoked any
 * number.
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
