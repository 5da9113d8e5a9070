import { LRUCache } from 'lru-cache';
import type { Plan } from '#contracts/events/workspace.ts';
import { type Role, SCOPES_OF_ROLE } from '#contracts/roles.ts';
import type { ReadDatabase } from '#contracts/read-database.ts';
import type { Scope } from '#contracts/scopes.ts';

/**
 * How long a process may believe what it read about a key. A revocation answers only when this time has passed
 * since it was written down (`LEASE_PASSED_MS`), so from then on no process anywhere still believes otherwise.
 *
 * Leases were chosen over LISTEN/NOTIFY because they are strict on their own: a notification may come late
 * or be lost with its connection, and then somebody has to notice; a lease runs out wherever nobody is
 * listening. The price is one look-up per key, process and lease, taken in the background while a key is busy.
 * Ages are measured by the monotonic clock from before the look-up was sent.
 */
const LEASE_MS = 300;
const RENEW_AFTER_MS = 150;
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
  readonly key_id: string;
  readonly workspace_id: string;
  readonly member_id: string;
  readonly scopes: readonly Scope[];
  readonly role: Role;
  readonly plan: Plan;
};

const FIND = `
  select key_id, workspace_id, member_id, scopes, role, plan
  from access.api_key
  join access.member using (workspace_id, member_id)
  join access.workspace using (workspace_id)
  where sha256 = $1 and not revoked`;

const callerOf = (row: Row): Caller => ({
  keyId: row.key_id,
  workspaceId: row.workspace_id,
  memberId: row.member_id,
  role: row.role,
  plan: row.plan,
  scopes: new Set(row.scopes).intersection(new Set(SCOPES_OF_ROLE[row.role])),
});

type Lease = { readonly caller: Caller; readonly since: number };
type Asking = { readonly since: number; readonly answer: Promise<Caller | null> };

/** `now`: the monotonic clock, in milliseconds. */
export const openCallers = (db: ReadDatabase, now: () => number = () => performance.now()): Callers => {
  const leases = new LRUCache<string, Lease>({ max: REMEMBERED_MAX });
  const asking = new Map<string, Asking>();

  const look = async (sha256: string, since: number): Promise<Caller | null> => {
    const [row] = await db.query<Row>({ sql: FIND, values: [sha256] });
    const caller = row ? callerOf(row) : null;
    // An older answer that comes in late must not displace a newer one.
    if ((leases.peek(sha256)?.since ?? -1) <= since) {
      if (caller) leases.set(sha256, { caller, since });
      else leases.delete(sha256);
    }
    return caller;
  };

  /** Joins a look-up under way only when that one was sent within the lease; else it might answer the past. */
  const ask = (sha256: string, at: number): Promise<Caller | null> => {
    const underway = asking.get(sha256);
    if (underway && at - underway.since < LEASE_MS) return underway.answer;
    const question: Asking = {
      since: at,
      answer: look(sha256, at).finally(() => {
        if (asking.get(sha256) === question) asking.delete(sha256);
      }),
    };
    asking.set(sha256, question);
    return question.answer;
  };

  return {
    find: (sha256) => {
      const at = now();
      const lease = leases.get(sha256);
      if (!lease || at - lease.since >= LEASE_MS) return ask(sha256, at);
      // A failed renewal leaves the lease to run out; the request after it then meets the failure itself.
      if (at - lease.since >= RENEW_AFTER_MS) ask(sha256, at).catch(() => undefined);
      return lease.caller;
    },
  };
};
