import { type Database, type Transaction, inTransaction } from '#platform/postgres/pool.ts';
import { type Clock, pause } from '#platform/clock.ts';
import { type Invariant, replay } from '#projections/queries/invariants.ts';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { isoTimeSql } from '#contracts/values/time.ts';

/** Violations shown per invariant. */
const SHOWN_MAX = 10;
/** Violations read per invariant; more are counted as this many. */
const READ_MAX = 1_000;
/** Interval of the checks of read models that are behind. */
const POLL_MS = 500;
/** The server cancels one invariant after this. */
const STATEMENT_TIMEOUT_MS = 300_000;

export type Violation = {
  /** `null` for a rule about the whole corpus. */
  readonly brand_id: string | null;
  readonly key: string;
  readonly one: string;
  readonly other: string;
};

export type CheckedInvariant = Pick<Invariant, 'name' | 'rule' | 'figures'> & {
  readonly remedy: string;
  /**
   * `left_out`: a rule over the whole corpus, not checked because brands were left out; it does not count as a failure.
   */
  readonly state: 'holds' | 'violated' | 'not_checked' | 'left_out';
  /** At most 1,000. */
  readonly violations: number;
  readonly first: readonly Violation[];
  /** `null` unless it was not checked. */
  readonly reason: string | null;
};

export type InvariantsReport = {
  readonly checked_at: string;
  /** True if all that could be checked holds. */
  readonly holds: boolean;
  /** Brands with a parked or skipped event. */
  readonly left_out: number;
  readonly invariants: readonly CheckedInvariant[];
};

type Options = {
  readonly clock: Clock;
  readonly invariants: readonly Invariant[];
  /** Milliseconds to wait for read models that are behind the log. */
  readonly waitMs: number;
  /** Violations are looked up again after this: a scan whose events are being appended is not a violation. */
  readonly recheckMs: number;
  readonly signal?: AbortSignal;
};

const BEHIND = `
  select name, case when is_paused then 'is paused, ' || lag_facts || ' events behind' when state <> 'live' then 'is ' || state
    else 'is ' || lag_facts || ' events behind' end as reason
  from projector.projection join projector.lag using (name)
  where name = any($1) and (lag_facts > 0 or state <> 'live')`;

type Behind = ReadonlyMap<string, string>;

/** Prefers a snapshot in which no read model is behind, until the time runs out. */
const beginSnapshot = async (
  client: Transaction,
  names: readonly string[],
  { waitMs, signal }: Options,
): Promise<Behind> => {
  for (const deadline = Date.now() + waitMs; ; ) {
    await client.query('set transaction isolation level repeatable read read only');
    const { rows } = await client.query<{ name: string; reason: string }>(BEHIND, [names]);
    if (rows.length === 0 || Date.now() >= deadline || signal?.aborted) {
      return new Map(rows.map(({ name, reason }) => [name, reason]));
    }
    await client.query('rollback');
    await pause(POLL_MS, signal);
    await client.query('begin');
  }
};

/** Brands with an event that a read model has not applied. */
const EXCLUDED = `
  select distinct substr(stream, strpos(stream, '-') + 1) as brand_id
  from (select * from (select projection, stream from projector.parked union select projection, stream from projector.skipped) p
    where projection = any($1)) s`;

const violationsOf = async (
  client: Transaction,
  { sql }: Invariant,
  excluded: readonly string[],
): Promise<readonly Violation[]> => {
  const { rows } = await client.query<Violation>(
    `select brand_id::text, key::text, one::text, other::text from (${sql}) v
     where brand_id is null or not brand_id::text = any($1) order by 1 nulls first, 2 limit ${READ_MAX}`,
    [excluded],
  );
  return rows;
};

type Look = {
  readonly excluded: readonly string[];
  readonly behind: Behind;
  readonly found: ReadonlyMap<string, readonly Violation[]>;
};

const look = (database: Database, invariants: readonly Invariant[], options: Options): Promise<Look> =>
  inTransaction(database, async (client) => {
    const names = [...new Set(invariants.flatMap(({ reads }) => reads))];
    const behind = await beginSnapshot(client, names, options);
    await client.query(`set local statement_timeout = ${STATEMENT_TIMEOUT_MS}`);
    await client.query(`set local work_mem = '64MB'`);
    const { rows } = await client.query<{ brand_id: string }>(EXCLUDED, [names]);
    const excluded = rows.map(({ brand_id }) => brand_id);
    const found = new Map<string, readonly Violation[]>();
    for (const invariant of invariants) {
      options.signal?.throwIfAborted();
      if (invariant.reads.some((name) => behind.has(name))) continue;
      found.set(invariant.name, await violationsOf(client, invariant, excluded));
    }
    return { excluded, behind, found };
  });

const identity = ({ brand_id, key, one, other }: Violation): string =>
  JSON.stringify([brand_id, key, one, other]);

/**
 * One statement per invariant over a snapshot of the whole log. Skips invariants whose read models are behind or
 * paused.
 */
export const checkInvariants = async (database: Database, options: Options): Promise<InvariantsReport> => {
  const first = await look(database, options.invariants, options);
  const suspected = options.invariants.filter(({ name }) => (first.found.get(name) ?? []).length > 0);
  if (suspected.length > 0) await pause(options.recheckMs, options.signal);
  const second = suspected.length === 0 ? null : await look(database, suspected, options);
  const standing = (name: string): readonly Violation[] => {
    const again = new Set((second?.found.get(name) ?? []).map(identity));
    return (first.found.get(name) ?? []).filter((violation) => again.has(identity(violation)));
  };
  const invariants = options.invariants.map(
    ({ name, rule, figures, reads, remedy = replay(...reads), isOfCorpus }): CheckedInvariant => {
      const behind =
        second?.behind.size && suspected.some((one) => one.name === name) ? second.behind : first.behind;
      const reasons = reads.flatMap((read) => {
        const reason = behind.get(read);
        return reason === undefined ? [] : [`${read} ${reason}`];
      });
      const isLeftOut = isOfCorpus === true && first.excluded.length > 0;
      const violations = reasons.length > 0 || isLeftOut ? [] : standing(name);
      const checked = violations.length > 0 ? 'violated' : 'holds';
      return {
        name,
        rule,
        figures,
        remedy,
        state: reasons.length > 0 ? 'not_checked' : isLeftOut ? 'left_out' : checked,
        violations: violations.length,
        first: violations.slice(0, SHOWN_MAX),
        reason: reasons.length > 0 ? reasons.join('; ') : null,
      };
    },
  );
  return {
    checked_at: options.clock.now().toISOString(),
    holds: invariants.every(({ state }) => state === 'holds' || state === 'left_out'),
    left_out: first.excluded.length,
    invariants,
  };
};

/** The worker writes it each night, and `attest --verify` at once; operators read it. */
export type VerificationRecord = {
  readonly started_at: string;
  /** `null` while it runs, and after its process was killed. */
  readonly finished_at: string | null;
  /** End of the last verification with a report; `null` before the first. */
  readonly verified_at: string | null;
  /** Report of the last verification that had one. */
  readonly report: InvariantsReport | null;
  readonly error: string | null;
};

const CREATE = `
  select pg_advisory_xact_lock(${ADVISORY_LOCKS.nightlyVerificationSchema});
  create schema if not exists nightly;
  create table if not exists nightly.verification (
    is_only boolean primary key default true check (is_only),
    started_at timestamptz not null,
    finished_at timestamptz,
    verified_at timestamptz,
    report jsonb,
    error text
  )`;

const CLAIM = `
  insert into nightly.verification as v (started_at) values (now())
  on conflict (is_only) do update set started_at = now(), finished_at = null, error = null
  where v.started_at < now() - make_interval(secs => $1)
  returning 1`;

/** False when another process claimed one within `leaseMs`, because a schedule wakes all workers at once. */
export const claimVerification = async (database: Database, leaseMs: number): Promise<boolean> => {
  await inTransaction(database, (client) => client.query(CREATE));
  const { rowCount } = await database.query(CLAIM, [leaseMs / 1_000]);
  return rowCount === 1;
};

export const storeVerification = async (
  database: Database,
  result: { readonly report: InvariantsReport } | { readonly error: string },
): Promise<void> => {
  if ('report' in result) {
    await database.query(
      'update nightly.verification set finished_at = now(), verified_at = now(), report = $1, error = null',
      [JSON.stringify(result.report)],
    );
  } else {
    await database.query('update nightly.verification set finished_at = now(), error = $1', [result.error]);
  }
};

/** Undefined table or schema; the first verification creates both. */
const NOT_MADE = ['42P01', '3F000'];

/** `null` before the first. */
export const readVerification = async (database: Database): Promise<VerificationRecord | null> => {
  try {
    const { rows } = await database.query<VerificationRecord>(
      `select ${isoTimeSql('started_at')} as started_at, ${isoTimeSql('finished_at')} as finished_at,
         ${isoTimeSql('verified_at')} as verified_at, report, error from nightly.verification`,
    );
    return rows[0] ?? null;
  } catch (error) {
    if (!NOT_MADE.includes((error as { code?: string }).code ?? '')) throw error;
    return null;
  }
};
