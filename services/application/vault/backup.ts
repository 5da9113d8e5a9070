import { isoTimeMicrosSql } from '#contracts/values/time.ts';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { createAuthorizationTables } from '../sign-in/authorization-tables.ts';
import { createBrowserSignInTables } from '../sign-in/tables.ts';
import { createVaultTables } from './cipher.ts';

/**
 * A backup holds vaults and sign-ins as lines of JSON, which the log cannot rebuild. Encrypted values need
 * MEMBER_VAULT_KEY; tokens and cookies are hashes.
 */
const SCHEMAS = ['./member-vault.sql', './secret-vault.sql'].map((file) =>
  readFileSync(new URL(file, import.meta.url), 'utf8'),
);

const Bytes = z.base64();
const Time = z.iso.datetime({ offset: true });
/** Other records of the authorization server live for an hour at most. */
const LASTING_RECORDS = ['Client', 'Grant', 'RefreshToken', 'Session'] as const;
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
    sealed_at: Time,
  }),
  z.strictObject({
    table: z.literal('oauth_record'),
    kind: z.enum(LASTING_RECORDS),
    key: z.string(),
    connection_id: z.string().nullable(),
    uid: z.string().nullable(),
    payload: z.record(z.string(), z.json()),
    consumed_at: Time.nullable(),
    expires_at: Time.nullable(),
  }),
  z.strictObject({
    table: z.literal('invitation'),
    token_hash: z.string(),
    invitation_id: z.string(),
    workspace_id: z.string(),
    member_id: z.string(),
    expires_at: Time,
    browser_hash: z.string().nullable(),
    used_at: Time.nullable(),
  }),
  z.strictObject({
    table: z.literal('browser'),
    sign_in_id: z.string(),
    token_hash: z.string(),
    account_id: z.string(),
    method: z.string(),
    signed_in_at: Time,
    used_at: Time,
    expires_at: Time,
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
  from vault.secret
  union all
  select (jsonb_build_object('table', 'oauth_record') || to_jsonb(record))::text from oauth.record
  where kind in (${LASTING_RECORDS.map((kind) => `'${kind}'`).join(', ')}) and (expires_at is null or expires_at > now())
  union all
  select (jsonb_build_object('table', 'invitation') || to_jsonb(invitation))::text from sign_in.invitation
  where expires_at > now()
  union all
  select (jsonb_build_object('table', 'browser') || to_jsonb(browser))::text from sign_in.browser
  where expires_at > now() order by 1`;

const createTables = async (database: Database): Promise<void> => {
  for (const schema of SCHEMAS) await createVaultTables(database, schema);
  await createAuthorizationTables(database);
  await createBrowserSignInTables(database);
};

/** One snapshot, one JSON line per row, in a stable order. */
export const backUpVaults = async (database: Database): Promise<readonly string[]> => {
  await createTables(database);
  const { rows } = await database.query<{ line: string }>(ALL);
  return rows.map(({ line }) => line);
};

type Insert = { readonly sql: string; readonly values: readonly string[] };

/** The fields of a line are the columns of the table. */
const rowInsert = (table: string, { table: _name, ...row }: Line): Insert => ({
  sql: `insert into ${table} select * from jsonb_populate_record(null::${table}, $1::jsonb) on conflict do nothing`,
  values: [JSON.stringify(row)],
});

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
    case 'oauth_record':
      return rowInsert('oauth.record', line);
    case 'invitation':
      return rowInsert('sign_in.invitation', line);
    case 'browser':
      return rowInsert('sign_in.browser', line);
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
 * One transaction; existing rows stay unchanged. Returns how many were restored. Throws `Refusal('invalid_input')` and
 * restores nothing for an invalid line.
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
