import { escapeIdentifier } from 'pg';
import { Refusal } from '#contracts/errors.ts';
import { type Database, inTransaction } from './pool.ts';

/**
 * Schemas that a role for reads does not enter: secrets, and tables that the processes work with. They are made here
 * where they are not there yet: what is made later is readable by default, so that a read model that is built anew and
 * swapped in is readable from its first moment.
 */
const PRIVATE_SCHEMAS = ['vault', 'ingest', 'alerting', 'delivery', 'tracing'] as const;
const ROLE = /^[a-z_][a-z0-9_]{0,62}$/;

export type GrantedReads = {
  readonly role: string;
  readonly made: boolean;
  readonly schemas: readonly string[];
};

/**
 * Lets a role read everything but the private schemas, now and in read models to come. To be run as the role that the
 * processes run as: defaults hold for what that one makes. Harmless when run again. `password`: makes the role, too.
 */
export const grantReads = (
  database: Database,
  role: string,
  password: string | null,
): Promise<GrantedReads> => {
  if (!ROLE.test(role)) {
    throw new Refusal('invalid_input', 'A role is small letters, digits and underscores, 63 at most.');
  }
  const quoted = escapeIdentifier(role);
  return inTransaction(database, async (client) => {
    const known = await client.query('select from pg_roles where rolname = $1', [role]);
    const made = known.rows.length === 0;
    if (made && password === null) {
      throw new Refusal(
        'not_found',
        `There is no role ${role}. Make it, or set READER_PASSWORD and run this again.`,
      );
    }
    if (password !== null) {
      // A statement of this kind takes no parameters.
      const { rows } = await client.query<{ statement: string }>(
        `select format('${made ? 'create' : 'alter'} role %I login password %L', $1::text, $2::text) as statement`,
        [role, password],
      );
      await client.query(rows[0]?.statement ?? '');
    }
    await client.query(`alter role ${quoted} set default_transaction_read_only = on`);
    const { rows: place } = await client.query<{ name: string }>('select current_database() as name');
    await client.query(`grant connect on database ${escapeIdentifier(place[0]?.name ?? '')} to ${quoted}`);
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
