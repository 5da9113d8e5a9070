import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { isoTimeSql } from '#contracts/values/time.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import type { InvariantsReport } from './check-invariants.ts';

/** The worker writes it and operators read it. */
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
