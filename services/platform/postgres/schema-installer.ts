import { hash } from 'node:crypto';
import { type RetryLimits, retry } from '../concurrency/retry.ts';
import { type Database, inTransaction, type Transaction } from './pool.ts';

/** Limit of one step, with the wait for another process. */
const INSTALL_TIMEOUT_MS = 30 * 60_000;
/** All that come after a waiting statement wait behind it, so the installation is rolled back and tried again. */
const LOCK_WAIT_MS = 2_000;
const LOCK_RETRIES: RetryLimits = { attempts: 250, firstDelayMs: 1_000, maxDelayMs: 10_000 };
const LOCK_NOT_AVAILABLE = '55P03';

export type SchemaInstallation = {
  /** Id of an advisory lock. */
  readonly lock: number;
  /** Statements that leave what exists. */
  readonly sql: string;
  /**
   * Schema whose comment holds the hash of `sql`: when equal, nothing runs. `if not exists` locks a table against
   * writers even when there is nothing to do. Absent: runs at each start.
   */
  readonly fingerprintOn?: string;
};

/** Runs in one transaction and process at a time. Throws when a table is in use for half an hour (`LOCK_RETRIES`). */
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
  // A second process waits for these statements, which take as long as the tables are large.
  await client.query(`set local statement_timeout = ${INSTALL_TIMEOUT_MS}`);
  const limit = { query_timeout: INSTALL_TIMEOUT_MS };
  await client.query({ text: 'select pg_advisory_xact_lock($1)', values: [lock], ...limit });
  // Another process may have committed during the wait: `if not exists` alone would fail on a duplicate name.
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
