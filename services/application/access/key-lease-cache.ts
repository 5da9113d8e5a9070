import { LRUCache } from 'lru-cache';
import type { Plan } from '#contracts/events/workspace/workspace.ts';
import { type Role, SCOPES_OF_ROLE } from '#contracts/values/roles.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import type { Scope } from '#contracts/values/scopes.ts';

/**
 * How long a process may believe what it read about a key. A revocation answers only when this time has passed
 * since it was written down (`LEASE_PASSED_MS`), so from then on no process anywhere still believes otherwise.
 *
 * Leases were chosen over LISTEN/NOTIFY because they are strict on their own: a notification may come late
 * or be lost with its connection, and then somebody has to notice; a lease runs out wherever nobody is
 * listening. The price is a look-up per process and lease, taken in the background while keys are busy: a key that
 * is due takes along those that soon will be. Ages are measured by the monotonic clock from before the look-up was
 * sent.
 */
const LEASE_MS = 300;
const RENEW_AFTER_MS = 150;
/** Renewed with one that is due, when used since it was renewed itself. */
const RENEW_ALONG_AFTER_MS = 50;
const RENEWED_TOGETHER_MAX = 100;
/** Covers the difference in speed of two machines' clocks, with much to spare. */
const LEASE_MARGIN_MS = 50;
export const LEASE_PASSED_MS = LEASE_MS + LEASE_MARGIN_MS;
/** Keys remembered by one process. */
const REMEMBERED_MAX = 10_000;

/** Who is calling, with what they may do now. */
export type Caller = {
  readonly keyId: string;
  readonly workspaceId: string;
  readonly memberId: string;
  readonly role: Role;
  readonly plan: Plan;
  /** Those of the key that the member's role still allows. */
  readonly scopes: ReadonlySet<Scope>;
};

export type Callers = {
  /** By the key's SHA-256. `null`: unknown or revoked. At once where a lease holds. */
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

const callerOf = (row: Row): Caller => ({
  keyId: row.key_id,
  workspaceId: row.workspace_id,
  memberId: row.member_id,
  role: row.role,
  plan: row.plan,
  scopes: new Set(row.scopes).intersection(new Set(SCOPES_OF_ROLE[row.role])),
});

type Lease = { readonly caller: Caller; readonly since: number; isUsed: boolean };
type Found = ReadonlyMap<string, Caller>;
type Asking = { readonly since: number; readonly answer: Promise<Found> };

/** `now`: the monotonic clock, in milliseconds. */
export const openCallers = (db: ReadDatabase, now: () => number = () => performance.now()): Callers => {
  const leases = new LRUCache<string, Lease>({ max: REMEMBERED_MAX });
  const asking = new Map<string, Asking>();

  const look = async (hashes: readonly string[], since: number): Promise<Found> => {
    const rows = await db.query<Row>({ sql: FIND, values: [hashes] });
    const found = new Map(rows.map((row) => [row.sha256, callerOf(row)]));
    for (const sha256 of hashes) {
      // An older answer that comes in late must not displace a newer one.
      if ((leases.peek(sha256)?.since ?? -1) > since) continue;
      const caller = found.get(sha256);
      if (caller) leases.set(sha256, { caller, since, isUsed: false });
      else leases.delete(sha256);
    }
    return found;
  };

  const soonDue = (at: number): readonly string[] => {
    const hashes: string[] = [];
    let seen = 0;
    // The most recently used first.
    for (const [sha256, { since, isUsed }] of leases.entries()) {
      if (isUsed && at - since >= RENEW_ALONG_AFTER_MS && !asking.has(sha256)) hashes.push(sha256);
      seen += 1;
      if (seen === RENEWED_TOGETHER_MAX) break;
    }
    return hashes;
  };

  /** Joins a look-up under way only when that one was sent within the lease; else it might answer the past. */
  const ask = async (sha256: string, at: number): Promise<Caller | null> => {
    let question = asking.get(sha256);
    if (!question || at - question.since >= LEASE_MS) {
      const hashes = [...new Set([sha256, ...soonDue(at)])];
      question = { since: at, answer: look(hashes, at) };
      for (const hash of hashes) asking.set(hash, question);
      const over = (): void => {
        for (const hash of hashes) if (asking.get(hash) === question) asking.delete(hash);
      };
      question.answer.then(over, over);
    }
    return (await question.answer).get(sha256) ?? null;
  };

  return {
    find: (sha256) => {
      const at = now();
      const lease = leases.get(sha256);
      if (!lease || at - lease.since >= LEASE_MS) return ask(sha256, at);
      lease.isUsed = true;
      // A failed renewal leaves the lease to run out; the request after it then meets the failure itself.
      if (at - lease.since >= RENEW_AFTER_MS) ask(sha256, at).catch(() => undefined);
      return lease.caller;
    },
  };
};
