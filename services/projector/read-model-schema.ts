import { readFileSync } from 'node:fs';
import type { Database, Transaction } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';

/** Table to column to Postgres type. */
export type Catalog = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Any number that nothing else in the database uses: one process at a time changes schemas. */
const SCHEMA_LOCK = 7_201_002;

/** A projection owns the schema of its name. */
export const schemaOf = (name: string): string => name.replaceAll('-', '_');
/** Under construction. */
export const nextSchemaOf = (name: string): string => `${schemaOf(name)}_next`;
/** Replaced by a swap, and kept until that is proven. */
export const oldSchemaOf = (name: string): string => `${schemaOf(name)}_old`;
/** Made from the log only to be compared. */
export const verifySchemaOf = (name: string): string => `${schemaOf(name)}_verify`;

const partsOf = (projection: Projection): { tables: string; indexes: string } => {
  const [tables = '', indexes = ''] = readFileSync(projection.schema, 'utf8').split(/^-- indexes$/m);
  return { tables, indexes };
};

export const lockSchemas = (client: Transaction): Promise<unknown> =>
  client.query('select pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);

export const enterSchema = (client: Transaction, schema: string): Promise<unknown> =>
  client.query(`set local search_path to "${schema}", public`);

/** Makes the projection's tables anew in `schema`, dropping what was there. */
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

/** Makes the indexes and gathers statistics: cheap on empty tables, and once for all rows after a rebuild. */
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
