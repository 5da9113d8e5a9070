import { LRUCache } from 'lru-cache';
import type { Plan } from '#contracts/events/workspace/workspace.ts';
import { type Role, SCOPES_OF_ROLE, type Scope } from '#contracts/values/access.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { outsideTimeBudget, untilTimeUsedUp } from '#platform/concurrency/time-budget.ts';

/**
 * A process may use a cached key for this long. A revocation replies only after `LEASE_PASSED_MS`, so no process
 * accepts the revoked key from then on. The message of LISTEN/NOTIFY can be lost with its connection; a lease always
 * expires. Its age counts from before its query, on the monotonic clock.
 */
const LEASE_MS = 300;
/** From this age a lease in use is renewed in the background. */
const RENEW_AFTER_MS = 150;
/** Leases in use of this age are renewed together with a due one. */
const RENEW_ALONG_AFTER_MS = 50;
const RENEWED_TOGETHER_MAX = 100;
/** Margin for clocks of two machines that run at different speeds. */
const LEASE_MARGIN_MS = 50;
/** After this every earlier lease has expired, in every process. */
export const LEASE_PASSED_MS = LEASE_MS + LEASE_MARGIN_MS;
const REMEMBERED_MAX = 10_000;

export type Caller = {
  readonly kind: 'api_key' | 'connection';
  /** Id of the key or the connection. */
  readonly keyId: string;
  readonly workspaceId: string;
  readonly memberId: string;
  readonly role: Role;
  readonly plan: Plan;
  /** Scopes that the member's current role still allows. */
  readonly scopes: ReadonlySet<Scope>;
};

export type Callers = {
  /** Returns synchronously while a lease is valid. `null` when the key is unknown or revoked. */
  find(sha256: string): Caller | null | Promise<Caller | null>;
};

type Row = {
  readonly sha256: string;
  readonly key_id: string;
  readonly workspace_id: string;
  readonly member_id: string;
  readonly scopes: readonly Scope[];
  readonly role: Role;
  readonly plan: Plan;
};

const FIND = `
  select sha256, key_id, workspace_id, member_id, scopes, role, plan
  from access.api_key
  join access.member using (workspace_id, member_id)
  join access.workspace using (workspace_id)
  where sha256 = any($1::text[]) and not revoked`;

const callerOf = (kind: Caller['kind'], row: Row): Caller => ({
  kind,
  keyId: row.key_id,
  workspaceId: row.workspace_id,
  memberId: row.member_id,
  role: row.role,
  plan: row.plan,
  scopes: new Set(row.scopes).intersection(new Set(SCOPES_OF_ROLE[row.role])),
});

type Lease = { readonly caller: Caller; readonly since: number; isUsed: boolean };
type CallersByHash = ReadonlyMap<string, Caller>;
type PendingQuery = { readonly since: number; readonly result: Promise<CallersByHash> };

/** `now`: the monotonic clock, in milliseconds. */
export const createKeyLeaseCache = (db: ReadDatabase, now?: () => number): Callers =>
  createLeaseCache(db, { kind: 'api_key', sql: FIND }, now);

/**
 * `sql` returns `Row` for the valid ones of the hashes, its first parameter. `now`: the monotonic clock, in
 * milliseconds.
 */
export const createLeaseCache = (
  db: ReadDatabase,
  {
    kind,
    sql,
    values = [],
  }: { readonly kind: Caller['kind']; readonly sql: string; readonly values?: readonly string[] },
  now: () => number = () => performance.now(),
): Callers => {
  const leases = new LRUCache<string, Lease>({ max: REMEMBERED_MAX });
  const pending = new Map<string, PendingQuery>();

  const queryCallers = async (hashes: readonly string[], since: number): Promise<CallersByHash> => {
    const rows = await db.query<Row>({ sql, values: [hashes, ...values] });
    const found = new Map(rows.map((row) => [row.sha256, callerOf(kind, row)]));
    for (const sha256 of hashes) {
      // A late result of an older query must not replace a newer one.
      if ((leases.peek(sha256)?.since ?? -1) > since) continue;
      const caller = found.get(sha256);
      if (caller) leases.set(sha256, { caller, since, isUsed: false });
      else leases.delete(sha256);
    }
    return found;
  };

  const renewableHashes = (at: number): readonly string[] => {
    const hashes: string[] = [];
    let checked = 0;
    // The cache iterates over the most recently used entries first.
    for (const [sha256, { since, isUsed }] of leases.entries()) {
      if (isUsed && at - since >= RENEW_ALONG_AFTER_MS && !pending.has(sha256)) hashes.push(sha256);
      checked += 1;
      if (checked === RENEWED_TOGETHER_MAX) break;
    }
    return hashes;
  };

  /** Joins a query for the same key only if it was sent within the lease: an older one may precede a revocation. */
  const loadCaller = async (sha256: string, at: number): Promise<Caller | null> => {
    let query = pending.get(sha256);
    if (!query || at - query.since >= LEASE_MS) {
      const hashes = [...new Set([sha256, ...renewableHashes(at)])];
      // Others join it, whose time is not that of this request.
      query = { since: at, result: outsideTimeBudget(() => queryCallers(hashes, at)) };
      for (const hash of hashes) pending.set(hash, query);
      const removePending = (): void => {
        for (const hash of hashes) if (pending.get(hash) === query) pending.delete(hash);
      };
      query.result.then(removePending, removePending);
    }
    return (await untilTimeUsedUp(query.result)).get(sha256) ?? null;
  };

  return {
    find: (sha256) => {
      const at = now();
      const lease = leases.get(sha256);
      if (!lease || at - lease.since >= LEASE_MS) return loadCaller(sha256, at);
      lease.isUsed = true;
      // After a failed renewal the lease expires, and the next request gets the error of its own query.
      if (at - lease.since >= RENEW_AFTER_MS) loadCaller(sha256, at).catch(() => undefined);
      return lease.caller;
    },
  };
};
