import { readFileSync } from 'node:fs';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';
import { createMemberVaultTables } from '../vault/member-vault.ts';
import { IDLE_HOURS } from './browsers.ts';

const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');

/** Includes the member vault, which sign-ins are joined with. */
export const createBrowserSignInTables = async (pool: Database): Promise<void> => {
  await createMemberVaultTables(pool);
  await installSchema(pool, { lock: ADVISORY_LOCKS.signInSchema, sql: SCHEMA });
};

const DELETED_TOGETHER_MAX = 10_000;

const DEAD = [
  'delete from sign_in.code where browser_hash in (select browser_hash from sign_in.code where expires_at <= now() limit $1)',
  `delete from sign_in.send where subject in (
     select subject from sign_in.send where sent_at[cardinality(sent_at)] <= now() - interval '1 day' limit $1)`,
  'delete from sign_in.invitation where token_hash in (select token_hash from sign_in.invitation where expires_at <= now() limit $1)',
  'delete from sign_in.upstream where state_hash in (select state_hash from sign_in.upstream where expires_at <= now() limit $1)',
  `delete from sign_in.browser where sign_in_id in (
     select sign_in_id from sign_in.browser where expires_at <= now() or used_at <= now() - interval '${IDLE_HOURS} hours' limit $1)`,
];

export const deleteExpiredSignIns = async (pool: Database): Promise<number> => {
  let deleted = 0;
  for (const sql of DEAD) deleted += (await pool.query(sql, [DELETED_TOGETHER_MAX])).rowCount ?? 0;
  return deleted;
};
