import { LRUCache } from 'lru-cache';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Caller } from './key-lease-cache.ts';

/** A key in steady use is written down this often. */
const FLUSH_EVERY_MS = 30_000;
/** A key that nobody was seen to use for a while is written down this soon. */
const FLUSH_SOON_MS = 1_000;
const IN_STEADY_USE_MS = 3_600_000;
const KEYS_PER_STATEMENT = 2_000;
/** Keys remembered as written lately; of one that is forgotten, the next use is written soon, no harm. */
const REMEMBERED_MAX = 10_000;

/**
 * When keys were last used, without a write per request: remembered here, written in batches. What a process has
 * not yet written when it is killed is lost, at most half a minute of a key in steady use.
 *
 * The first use after an hour is written within a second, so that another process which revokes unused keys
 * does not take a key that has just come back for one that nobody needs.
 */
export type KeyUsage = AsyncDisposable & {
  /** `atMs`: milliseconds of the wall clock. */
  record(caller: Pick<Caller, 'workspaceId' | 'keyId'>, atMs: number): void;
  /** Writes down what is not yet written. */
  flush(): Promise<void>;
};

// In the order of their keys, so that two processes never wait for each other's rows crosswise.
const WRITE = `
  insert into access.key_use as held (workspace_id, key_id, last_used_at)
  select workspace_id, key_id, last_used_at
  from unnest($1::text[], $2::text[], $3::text[]) as used(workspace_id, key_id, last_used_at)
  order by workspace_id, key_id
  on conflict (workspace_id, key_id) do update set last_used_at = excluded.last_used_at
  where held.last_used_at < excluded.last_used_at`;

type Use = { readonly workspaceId: string; readonly keyId: string; readonly atMs: number };

export const createKeyUsage = (pool: Database, log: Log): KeyUsage => {
  /** By key id, which names a key in all workspaces but for a chance of one in 2^80. */
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
        // Kept for the next time, unless the key was used again meanwhile.
        for (const use of uses.slice(from)) if (!unwritten.has(use.keyId)) unwritten.set(use.keyId, use);
        throw error;
      }
      for (const { keyId, atMs } of some) writtenMs.set(keyId, atMs);
    }
  };

  /** One after the other: what a flush answers for was handed over before it or is in it. */
  const flush = (): Promise<void> => {
    clearTimeout(soon);
    soon = undefined;
    writing = writing.catch(() => undefined).then(write);
    return writing;
  };
  const flushQuietly = (): void => {
    flush().catch((error: unknown) => log.warn({ err: error }, 'last uses of keys were not written'));
  };

  const flushing = setInterval(flushQuietly, FLUSH_EVERY_MS);
  flushing.unref();

  return {
    record: ({ workspaceId, keyId }, atMs) => {
      unwritten.set(keyId, { workspaceId, keyId, atMs });
      if (soon || atMs - (writtenMs.get(keyId) ?? 0) < IN_STEADY_USE_MS) return;
      soon = setTimeout(flushQuietly, FLUSH_SOON_MS);
      soon.unref();
    },
    flush,
    [Symbol.asyncDispose]: async () => {
      clearInterval(flushing);
      await flush().catch((error: unknown) => log.warn({ err: error }, 'last uses of keys were not written'));
    },
  };
};

/** Last uses of a workspace's keys, by key id, as they were written down. */
export const readLastUses = async (
  pool: Database,
  workspaceId: string,
): Promise<ReadonlyMap<string, string>> => {
  const { rows } = await pool.query<{ key_id: string; last_used_at: string }>(
    'select key_id, last_used_at from access.key_use where workspace_id = $1',
    [workspaceId],
  );
  return new Map(rows.map(({ key_id, last_used_at }) => [key_id, last_used_at]));
};
