import { escapeIdentifier } from 'pg';
import { Refusal } from '#contracts/errors.ts';
import { type Database, inTransaction } from './pool.ts';

/** Schemas with secrets or state, created before the default privileges, which make later schemas readable. */
const PRIVATE_SCHEMAS = [
  'vault',
  'oauth',
  'ingest',
  'intake',
  'alerting',
  'delivery',
  'tracing',
  'collecting',
  'commands',
] as const;
const ROLE = /^[a-z_][a-z0-9_]{0,62}$/;

export type GrantedReads = {
  readonly role: string;
  readonly made: boolean;
  readonly schemas: readonly string[];
};

/**
 * Must run as the role of the processes, because default privileges apply to its objects only. `password`: `null`
 * requires an existing role. Throws `Refusal` `invalid_input` for an invalid name, `not_found` for a missing role.
 */
export const grantReads = (
  database: Database,
  role: string,
  password: string | null,
): Promise<GrantedReads> => {
  if (!ROLE.test(role)) {
    throw new Refusal(
      'invalid_input',
      'A role name has 1 to 63 characters: lower-case letters, digits and underscores, not a digit first.',
    );
  }
  const quoted = escapeIdentifier(role);
  return inTransaction(database, async (client) => {
    const existing = await client.query('select from pg_roles where rolname = $1', [role]);
    const made = existing.rows.length === 0;
    if (made && password === null) {
      throw new Refusal(
        'not_found',
        `Role ${role} not found. Create it, or set READER_PASSWORD and run this command again.`,
      );
    }
    if (password !== null) {
      // `create role` accepts no parameters, so the statement is built with `format`.
      const { rows } = await client.query<{ statement: string }>(
        `select format('${made ? 'create' : 'alter'} role %I login password %L', $1::text, $2::text) as statement`,
        [role, password],
      );
      await client.query(rows[0]?.statement ?? '');
    }
    await client.query(`alter role ${quoted} set default_transaction_read_only = on`);
    const { rows: databases } = await client.query<{ name: string }>('select current_database() as name');
    await client.query(
      `grant connect on database ${escapeIdentifier(databases[0]?.name ?? '')} to ${quoted}`,
    );
    for (const schema of PRIVATE_SCHEMAS) {
      await client.query(`create schema if not exists ${schema}`);
      await client.query(`revoke all on schema ${schema} from ${quoted}`);
    }
    await client.query(`alter default privileges grant usage on schemas to ${quoted}`);
    await client.query(`alter default privileges grant select on tables to ${quoted}`);
    const { rows } = await client.query<{ name: string }>(
      `select nspname as name from pg_namespace
       where nspowner = current_user::regrole and nspname <> all($1) and nspname !~ '^pg_' order by 1`,
      [PRIVATE_SCHEMAS],
    );
    for (const { name } of rows) {
      await client.query(`grant usage on schema ${escapeIdentifier(name)} to ${quoted}`);
      await client.query(`grant select on all tables in schema ${escapeIdentifier(name)} to ${quoted}`);
    }
    return { role, made, schemas: rows.map(({ name }) => name) };
  });
};
