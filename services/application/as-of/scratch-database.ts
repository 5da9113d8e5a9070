import { chunk } from 'es-toolkit/array/chunk';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { Refusal } from '#contracts/errors.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { requireTime } from '#platform/concurrency/time-budget.ts';
import { type Database, openPool, type Transaction } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import { fingerprintOf } from '#projections/schema-fingerprint.ts';
import { projectEvents } from '../read-models/project-events.ts';
import { type Catalog, createTables, enterSchema, readCatalog, schemaOf } from '../read-models/schema.ts';
import { writeGroup } from '../read-models/write-changes.ts';

/**
 * A database apart with the same read models in the same schemas, all empty. A read of a past moment fills them in a transaction,
 * reads with the statements of any other read, and rolls back. Processes do this one after the other.
 */

/** Maximum wait for the other processes. */
const TURN_WAIT_MS = 3_000;
const STATEMENT_TIMEOUT_MS = 8_000;
/** SQL states of a database that another process creates at the same time. */
const DUPLICATE_DATABASE = /^(42P04|23505)$/;
const NOT_PERMITTED = '42501';
const NO_DATABASE = '3D000';
/** Undefined schema, table or column, or a column of another type. */
const TABLES_DIFFER: ReadonlySet<string> = new Set(['3F000', '42P01', '42703', '42804']);
const sqlStateOf = (error: unknown): string => String((error as { readonly code?: unknown }).code);
const missingText = (name: string): string =>
  `Reads of a past moment need the database \`${name}\`, which the operator of the service creates, or lets its role create.`;

export type ScratchTables = {
  readonly client: Transaction;
  readonly db: ReadDatabase;
  readonly catalogOf: (projection: Projection) => Catalog;
};

export type ScratchDatabase = AsyncDisposable & {
  /** Calls `work` with empty tables and forgets their rows. One call at a time. */
  withTables<T>(projections: readonly Projection[], work: (tables: ScratchTables) => Promise<T>): Promise<T>;
};

export const scratchNameOf = (databaseUrl: string): string =>
  `${decodeURIComponent(new URL(databaseUrl).pathname.slice(1))}_as_of`;

export const scratchUrlOf = (databaseUrl: string): string => {
  const url = new URL(databaseUrl);
  url.pathname = `/${encodeURIComponent(scratchNameOf(databaseUrl))}`;
  return url.href;
};

const createDatabase = async (database: Database, name: string): Promise<void> => {
  try {
    await database.query(`create database "${name.replaceAll('"', '""')}"`);
  } catch (error) {
    const code = sqlStateOf(error);
    if (code === NOT_PERMITTED) throw new Refusal('overloaded', missingText(name));
    if (!DUPLICATE_DATABASE.test(code)) throw error;
  }
};

/** A crash of the server empties unlogged tables, and so the list of states, too. */
const LISTS = `
  create table if not exists public.read_model (name text primary key, fingerprint text);
  create unlogged table if not exists public.kept_state (
    id integer primary key,
    before integer references public.kept_state on delete cascade,
    brand_id text not null,
    rules text not null,
    ends jsonb not null,
    marks text not null,
    read_at timestamptz not null default now()
  );
  create sequence if not exists public.kept_state_id;
  create unique index if not exists kept_state_place on public.kept_state (brand_id, rules, coalesce(before, 0))`;

/** Begins a transaction that is the only one of its kind over all processes. */
export const begin = async (client: Transaction): Promise<void> => {
  await client.query(`begin; set local lock_timeout = ${TURN_WAIT_MS}`);
  await client.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.scratchTables]);
  await client.query(LISTS);
};

/** Projections without tables, or with those of another release. */
const staleOf = async (
  client: Transaction,
  projections: readonly Projection[],
): Promise<readonly Projection[]> => {
  const { rows } = await client.query<{ name: string; fingerprint: string }>(
    'select name, fingerprint from public.read_model',
  );
  const known = new Map(rows.map(({ name, fingerprint }) => [name, fingerprint]));
  return projections.filter((one) => known.get(one.name) !== fingerprintOf(one));
};

/** Without indexes, as a rebuild fills tables: they hold the rows of a few brands. */
const createScratchTables = async (client: Transaction, projection: Projection): Promise<void> => {
  const schema = schemaOf(projection.name);
  await createTables(client, projection, schema);
  // Their rows can be computed again, so nothing is logged.
  for (const table of (await readCatalog(client, schema)).keys())
    await client.query(`alter table "${schema}"."${table}" set unlogged`);
  await client.query(
    `insert into public.read_model (name, fingerprint) values ($1, $2)
     on conflict (name) do update set fingerprint = excluded.fingerprint`,
    [projection.name, fingerprintOf(projection)],
  );
};

/** Begins a transaction in which the tables exist and are empty. */
export const beginWithTables = async (
  client: Transaction,
  projections: readonly Projection[],
): Promise<void> => {
  await begin(client);
  const stale = await staleOf(client, projections);
  if (stale.length === 0) return;
  for (const projection of stale) await createScratchTables(client, projection);
  await client.query('commit');
  await begin(client);
};

/** Events in memory. Rows are written for all of them together. */
export const RANGE = 2_000;

/** `schemaFor`: the schema that has the tables of a read model. */
export const writeRange = async (
  { client, catalogOf }: Pick<ScratchTables, 'client' | 'catalogOf'>,
  models: readonly Projection[],
  events: readonly RecordedEvent[],
  schemaFor: (projection: Projection) => string = ({ name }) => schemaOf(name),
): Promise<void> => {
  for (const projection of models) {
    const own = events.filter(({ stream }) =>
      projection.prefixes.some((prefix) => stream.startsWith(prefix)),
    );
    if (own.length === 0) continue;
    requireTime();
    await enterSchema(client, schemaFor(projection));
    for (const group of projectEvents(projection, own))
      await writeGroup(client, projection, catalogOf(projection), group);
  }
};

export const writeAll = async (
  tables: ScratchTables,
  models: readonly Projection[],
  events: readonly RecordedEvent[],
): Promise<void> => {
  for (const some of chunk(events, RANGE)) await writeRange(tables, models, some);
};

/** One statement at a time, as a connection without a pipeline runs them. */
const readDatabaseOf = (client: Transaction): ReadDatabase => {
  let last: Promise<unknown> = Promise.resolve();
  const query: ReadDatabase['query'] = ({ sql, values }) => {
    // The SQL tag of slonik writes `$slonik_1` instead of `$1`.
    const run = last.then(() => client.query(sql.replaceAll('$slonik_', '$'), values as unknown[]));
    last = run.catch(() => undefined);
    return run.then(({ rows }) => rows as never);
  };
  return { query, slow: query };
};

/** The role of `database` needs the right CREATEDB, or the database must exist. */
export const openScratchDatabase = (databaseUrl: string, database: Database): ScratchDatabase => {
  const pool = openPool(scratchUrlOf(databaseUrl), 1, {
    statement_timeout: STATEMENT_TIMEOUT_MS,
    options: '-c synchronous_commit=off',
  });
  const catalogs = new Map<string, Catalog>();
  /** Creates the database when it is missing: at the first call, or after it was dropped. */
  const connect = async (): Promise<Transaction> => {
    try {
      return await pool.connect();
    } catch (error) {
      if (sqlStateOf(error) !== NO_DATABASE) throw error;
      await createDatabase(database, scratchNameOf(databaseUrl));
      return await pool.connect();
    }
  };
  return {
    withTables: async (projections, work) => {
      const client = await connect();
      let broken: Error | undefined;
      let isAltered = false;
      try {
        await beginWithTables(client, projections);
        for (const { name } of projections) {
          if (!catalogs.has(name)) catalogs.set(name, await readCatalog(client, schemaOf(name)));
        }
        return await work({
          client,
          db: readDatabaseOf(client),
          catalogOf: ({ name }) => catalogs.get(name) ?? new Map(),
        });
      } catch (error) {
        isAltered = TABLES_DIFFER.has(sqlStateOf(error));
        throw error;
      } finally {
        await client.query('rollback').catch((error: Error) => {
          broken = error;
        });
        // The next call creates the tables again.
        if (isAltered && !broken)
          await client
            .query('delete from public.read_model; delete from public.kept_state')
            .catch(() => undefined);
        client.release(broken);
      }
    },
    [Symbol.asyncDispose]: () => pool.end(),
  };
};
