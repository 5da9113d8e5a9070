import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { readFileSync } from 'node:fs';
import type { Database, Transaction } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';

export type Catalog = ReadonlyMap<string, ReadonlyMap<string, string>>;

const SCHEMA_LOCK = ADVISORY_LOCKS.readModelSchemas;

export const schemaOf = (name: string): string => name.replaceAll('-', '_');
export const nextSchemaOf = (name: string): string => `${schemaOf(name)}_next`;
/** Tables that a swap replaced, kept until a verification passes or they expire. */
export const oldSchemaOf = (name: string): string => `${schemaOf(name)}_old`;
/** Replaced tables that readers still hold; dropped later. */
export const droppedSchemaOf = (name: string): string => `${schemaOf(name)}_dropped`;
export const verifySchemaOf = (name: string): string => `${schemaOf(name)}_verify`;

const partsOf = (projection: Projection): { tables: string; indexes: string } => {
  const [tables = '', indexes = ''] = readFileSync(projection.schema, 'utf8').split(/^-- indexes$/m);
  return { tables, indexes };
};

/** Maximum wait for readers of tables under the schema lock, for which all processes wait. */
const READERS_WAIT_MS = 1_000;

/** Holds the lock until the transaction ends. Later statements throw 55P03 after `READERS_WAIT_MS`. */
export const lockSchemas = async (client: Transaction): Promise<void> => {
  await client.query('select pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
  await client.query(`set local lock_timeout = ${READERS_WAIT_MS}`);
};

export const enterSchema = (client: Transaction, schema: string): Promise<unknown> =>
  client.query(`set local search_path to "${schema}", public`);

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

/** Runs before any row for live tables, and after all rows for a rebuild. */
export const createIndexes = async (
  client: Transaction,
  projection: Projection,
  schema: string,
): Promise<void> => {
  await enterSchema(client, schema);
  await client.query(partsOf(projection).indexes);
};

/** Creates the indexes that begin with the id of a brand: reads about one brand need no others. */
export const createIndexesOfBrand = async (
  client: Transaction,
  projection: Projection,
  schema: string,
): Promise<void> => {
  await enterSchema(client, schema);
  const statements = partsOf(projection).indexes.split(';');
  await client.query(statements.filter((one) => /\son \w+ \(brand_id\b/.test(one)).join(';'));
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
