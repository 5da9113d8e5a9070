import { isoTimeMicrosSql } from '#contracts/values/time.ts';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { createVaultTables } from './cipher.ts';

/**
 * Schemas of both vaults. A backup holds the vaults as lines of JSON. Values stay encrypted, so a backup is useless
 * without MEMBER_VAULT_KEY. The vaults are the only data in Postgres that cannot be rebuilt from the log.
 */
const SCHEMAS = ['./member-vault.sql', './secret-vault.sql'].map((file) =>
  readFileSync(new URL(file, import.meta.url), 'utf8'),
);

const Bytes = z.base64();
const Line = z.discriminatedUnion('table', [
  z.strictObject({
    table: z.literal('member_key'),
    workspace_id: z.string(),
    member_id: z.string(),
    wrapped_key: Bytes,
  }),
  z.strictObject({ table: z.literal('index_key'), wrapped_key: Bytes }),
  z.strictObject({
    table: z.literal('secret'),
    workspace_id: z.string(),
    owner: z.string(),
    fingerprint: z.string(),
    sealed: Bytes,
    sealed_at: z.iso.datetime({ offset: true }),
  }),
]);
type Line = z.infer<typeof Line>;

const ALL = `
  select jsonb_build_object('table', 'member_key', 'workspace_id', workspace_id, 'member_id', member_id,
    'wrapped_key', translate(encode(wrapped_key, 'base64'), E'\\n', ''))::text as line
  from vault.member_key
  union all
  select jsonb_build_object('table', 'index_key',
    'wrapped_key', translate(encode(wrapped_key, 'base64'), E'\\n', ''))::text
  from vault.index_key
  union all
  select jsonb_build_object('table', 'secret', 'workspace_id', workspace_id, 'owner', owner, 'fingerprint', fingerprint,
    'sealed', translate(encode(sealed, 'base64'), E'\\n', ''),
    'sealed_at', ${isoTimeMicrosSql('sealed_at')})::text
  from vault.secret order by 1`;

const createTables = async (database: Database): Promise<void> => {
  for (const schema of SCHEMAS) await createVaultTables(database, schema);
};

/** Returns all vault rows of one snapshot, one JSON line each, in a stable order. */
export const backUpVaults = async (database: Database): Promise<readonly string[]> => {
  await createTables(database);
  const { rows } = await database.query<{ line: string }>(ALL);
  return rows.map(({ line }) => line);
};

type Insert = { readonly sql: string; readonly values: readonly string[] };

const insertOf = (line: Line): Insert => {
  switch (line.table) {
    case 'member_key':
      return {
        sql: `insert into vault.member_key (workspace_id, member_id, wrapped_key)
              values ($1, $2, decode($3, 'base64')) on conflict do nothing`,
        values: [line.workspace_id, line.member_id, line.wrapped_key],
      };
    case 'index_key':
      return {
        sql: `insert into vault.index_key (wrapped_key) values (decode($1, 'base64')) on conflict do nothing`,
        values: [line.wrapped_key],
      };
    case 'secret':
      return {
        sql: `insert into vault.secret (workspace_id, owner, fingerprint, sealed, sealed_at)
              values ($1, $2, $3, decode($4, 'base64'), $5) on conflict do nothing`,
        values: [line.workspace_id, line.owner, line.fingerprint, line.sealed, line.sealed_at],
      };
  }
};

const lineOf = (line: string, index: number): Line => {
  try {
    return Line.parse(JSON.parse(line));
  } catch (cause) {
    const text = `Line ${index + 1} is not a line of a vault backup. Nothing was restored. Check the file.`;
    const refusal = new Refusal('invalid_input', text);
    throw Object.assign(refusal, { cause });
  }
};

/**
 * Restores missing rows in one transaction; existing rows stay unchanged. Returns how many were restored. Throws
 * `Refusal('invalid_input')` and restores nothing when a line is invalid.
 */
export const restoreVaults = async (database: Database, lines: readonly string[]): Promise<number> => {
  const parsed = lines.map(lineOf);
  await createTables(database);
  return inTransaction(database, async (client) => {
    let restored = 0;
    for (const { sql, values } of parsed.map(insertOf)) {
      restored += (await client.query(sql, [...values])).rowCount ?? 0;
    }
    return restored;
  });
};
