import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { readFileSync } from 'node:fs';
import type { Database, Transaction } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';

/** Postgres type by table and column. */
export type Catalog = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Id of the advisory lock for schema changes: one process at a time. */
const SCHEMA_LOCK = ADVISORY_LOCKS.readModelSchemas;

/** Returns the Postgres schema of a projection's live tables. */
export const schemaOf = (name: string): string => name.replaceAll('-', '_');
/** Returns the schema of the tables that a rebuild writes. */
export const nextSchemaOf = (name: string): string => `${schemaOf(name)}_next`;
/** Returns the schema of the tables replaced by a swap, kept until a verification passes or they expire. */
export const oldSchemaOf = (name: string): string => `${schemaOf(name)}_old`;
/** Returns the schema of replaced tables that readers still hold. It is dropped once they have ended. */
export const droppedSchemaOf = (name: string): string => `${schemaOf(name)}_dropped`;
/** Returns the shadow schema of a verification. */
export const verifySchemaOf = (name: string): string => `${schemaOf(name)}_verify`;

const partsOf = (projection: Projection): { tables: string; indexes: string } => {
  const [tables = '', indexes = ''] = readFileSync(projection.schema, 'utf8').split(/^-- indexes$/m);
  return { tables, indexes };
};

/**
 * Milliseconds that a transaction with the lock waits for readers of tables. All projections and processes wait for that
 * lock, so the transaction fails instead.
 */
const READERS_WAIT_MS = 1_000;

/** Takes the lock for changes of schemas until the transaction ends. Its further statements throw 55P03 rather than wait for long. */
export const lockSchemas = async (client: Transaction): Promise<void> => {
  await client.query('select pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
  await client.query(`set local lock_timeout = ${READERS_WAIT_MS}`);
};

export const enterSchema = (client: Transaction, schema: string): Promise<unknown> =>
  client.query(`set local search_path to "${schema}", public`);

/** Creates the projection's tables in `schema`, dropping any existing ones. */
export const createTables = async (
  client: Transaction,
  projection: Projection,
  schema: string,
): Promise<void> => {
  await client.query(`drop schema if exists "${schema}" cascade`);
  await client.query(`create schema "${schema}"`);
  await enterSchema(client, schema);
  await client.query(partsOf(projection).tables);
};

/** Creates the indexes: cheap on empty tables, and once for all rows after a rebuild. */
export const createIndexes = async (
  client: Transaction,
  projection: Projection,
  schema: string,
): Promise<void> => {
  await enterSchema(client, schema);
  await client.query(partsOf(projection).indexes);
};

export const analyzeTables = async (database: Database, schema: string, catalog: Catalog): Promise<void> => {
  for (const table of catalog.keys()) await database.query(`analyze "${schema}"."${table}"`);
};

export const readCatalog = async (database: Database | Transaction, schema: string): Promise<Catalog> => {
  const { rows } = await database.query<{ table: string; column: string; type: string }>(
    `select c.relname as "table", a.attname as "column", format_type(a.atttypid, a.atttypmod) as type
     from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
     where n.nspname = $1 and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped`,
    [schema],
  );
  const catalog = new Map<string, Map<string, string>>();
  for (const { table, column, type } of rows) {
    const columns = catalog.get(table) ?? new Map<string, string>();
    columns.set(column, type);
    catalog.set(table, columns);
  }
  return catalog;
};
