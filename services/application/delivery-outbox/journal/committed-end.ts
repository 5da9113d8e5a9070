import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import type { Transaction } from '#platform/postgres/pool.ts';

const JOURNAL_LOCK = ADVISORY_LOCKS.deliveryJournal;

/** A waiting exclusive request blocks new writers, so it gives up behind a slow one, and the relay tries again. */
const LOCK_TIMEOUT_MS = 1_000;

/**
 * All entries up to this one are visible. Needs its own transaction, to end the lock at once. Throws when it is not
 * granted.
 */
export const lastCommittedEntry = async (client: Transaction): Promise<bigint> => {
  await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  await client.query('select pg_advisory_xact_lock($1)', [JOURNAL_LOCK]);
  const { rows } = await client.query<{ seq: string }>(
    'select coalesce(max(seq), 0) as seq from delivery.journal',
  );
  return BigInt(rows[0]?.seq ?? 0);
};
