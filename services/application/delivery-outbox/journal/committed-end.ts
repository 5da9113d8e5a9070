import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import type { Transaction } from '#platform/postgres/pool.ts';

/** Id of the advisory lock. Writers of journal entries hold it shared until they commit (`schema.sql`). */
const JOURNAL_LOCK = ADVISORY_LOCKS.deliveryJournal;

/**
 * Milliseconds to wait for the lock. A waiting exclusive request blocks all new writers, so it gives up behind a slow
 * writer. The relay tries again later.
 */
const LOCK_TIMEOUT_MS = 1_000;

/**
 * Returns the sequence number up to which all journal entries are committed and visible. Call it in a transaction of
 * its own, which ends the exclusive lock at once. Throws when the lock is not granted within the timeout.
 */
export const lastCommittedEntry = async (client: Transaction): Promise<bigint> => {
  await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  await client.query('select pg_advisory_xact_lock($1)', [JOURNAL_LOCK]);
  const { rows } = await client.query<{ seq: string }>(
    'select coalesce(max(seq), 0) as seq from delivery.journal',
  );
  return BigInt(rows[0]?.seq ?? 0);
};
