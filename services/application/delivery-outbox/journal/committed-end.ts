import type { Transaction } from '#platform/postgres/pool.ts';

/** The lock that whoever writes entries shares until they are committed (`schema.sql`). */
const JOURNAL_LOCK = 7_205_314;

/** Behind a writer that does not end, whoever asks would hold up all others: it gives up and asks again later. */
const LOCK_TIMEOUT_MS = 1_000;

/** The last entry of the journal up to which nothing is still on its way. In a transaction of its own. */
export const lastSettledEntry = async (client: Transaction): Promise<bigint> => {
  await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  await client.query('select pg_advisory_xact_lock($1)', [JOURNAL_LOCK]);
  const { rows } = await client.query<{ seq: string }>(
    'select coalesce(max(seq), 0) as seq from delivery.journal',
  );
  return BigInt(rows[0]?.seq ?? 0);
};
