import { hash } from 'node:crypto';
import { type RetryLimits, retry } from '../concurrency/retry.ts';
import { type Database, inTransaction, type Transaction } from './pool.ts';

/** Milliseconds that one step of an installation may take, the wait for another process included. */
const INSTALL_TIMEOUT_MS = 30 * 60_000;
/**
 * Milliseconds that a statement waits for the readers and writers of a table: all that come after them wait behind it. The
 * installation is then rolled back and tried again.
 */
const LOCK_WAIT_MS = 2_000;
const LOCK_RETRIES: RetryLimits = { attempts: 250, firstDelayMs: 1_000, maxDelayMs: 10_000 };
const LOCK_NOT_AVAILABLE = '55P03';

export type SchemaInstallation = {
  /** Id of the advisory lock under which the tables are created. */
  readonly lock: number;
  /** Statements that create what is missing and leave what exists. */
  readonly sql: string;
  /**
   * Name of the Postgres schema whose comment holds the hash of `sql`. When the hash is equal, nothing runs and no
   * lock is taken: `create index if not exists` and `alter table … add column if not exists` lock a table against
   * its writers even when there is nothing to do. Absent: the statements run at each start.
   */
  readonly fingerprintOn?: string;
};

/**
 * Creates or upgrades tables, in one transaction and one process at a time. Throws when a table is in use for longer than
 * `LOCK_RETRIES` last, about half an hour.
 */
export const installSchema = async (database: Database, installation: SchemaInstallation): Promise<void> => {
  const { sql, fingerprintOn } = installation;
  const fingerprint = hash('sha256', sql, 'hex');
  if (fingerprintOn !== undefined) {
    const { rows } = await database.query<{ current: string | null }>(
      `select obj_description(to_regnamespace($1)::oid, 'pg_namespace') as current`,
      [fingerprintOn],
    );
    if (rows[0]?.current === fingerprint) return;
  }
  await retry(
    LOCK_RETRIES,
    (error) => (error as { readonly code?: unknown }).code === LOCK_NOT_AVAILABLE,
    () => inTransaction(database, (client) => install(client, installation, fingerprint)),
  );
};

const install = async (
  client: Transaction,
  { lock, sql, fingerprintOn }: SchemaInstallation,
  fingerprint: string,
): Promise<void> => {
  // Statements may take as long as their tables are large, and a second process waits for them.
  await client.query(`set local statement_timeout = ${INSTALL_TIMEOUT_MS}`);
  const limit = { query_timeout: INSTALL_TIMEOUT_MS };
  await client.query({ text: 'select pg_advisory_xact_lock($1)', values: [lock], ...limit });
  // Another process may have created the schema during the wait. This reads what it committed; `create schema if not exists` alone
  // would not, after the read above that found none, and would fail on a duplicate name.
  const { rows } = await client.query<{ current: string | null }>(
    `select obj_description(oid, 'pg_namespace') as current from pg_namespace where nspname = $1`,
    [fingerprintOn ?? null],
  );
  if (rows[0]?.current === fingerprint) return;
  await client.query(`set local lock_timeout = ${LOCK_WAIT_MS}`);
  await client.query({ text: sql, ...limit });
  if (fingerprintOn !== undefined) {
    await client.query(`comment on schema ${fingerprintOn} is '${fingerprint}'`);
  }
};
