import { Refusal } from '#contracts/errors.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { projections } from '#projections/index.ts';

/** Suffixes of the schemas of a projection: live, being built, replaced, replaced before that, and compared. */
const SUFFIXES = ['', '_next', '_old', '_dropped', '_verify'];
/** Schemas with log positions. `run` comes last: its mark stops processes from starting on a half-adopted log. */
const DERIVED = ['projector', 'ingest', 'access', 'alerting', 'run'];

const derivedSchemas = (): readonly string[] => [
  ...projections.flatMap(({ name }) => SUFFIXES.map((suffix) => name.replaceAll('-', '_') + suffix)),
  ...DERIVED,
];

const requireAlone = async (database: Database): Promise<void> => {
  const { rows } = await database.query<{ names: string[] }>(
    `select coalesce(array_agg(distinct coalesce(nullif(application_name, ''), 'unnamed')), '{}') as names
       from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
  );
  const names = rows[0]?.names ?? [];
  if (names.length === 0) return;
  throw new Refusal(
    'changed_meanwhile',
    `Other processes are connected to this database (${names.join(', ')}). Stop all processes of the service first, and ` +
      'close other connections.',
  );
};

/** Drops everything computed from the old log, and returns the schemas. Throws while other processes are connected. */
export const adoptLog = async (database: Database): Promise<readonly string[]> => {
  await requireAlone(database);
  const wanted = derivedSchemas();
  const found = await database.query<{ nspname: string }>(
    'select nspname from pg_namespace where nspname = any($1)',
    [wanted],
  );
  const there = new Set(found.rows.map(({ nspname }) => nspname));
  const schemas = wanted.filter((schema) => there.has(schema));
  // A transaction over all statements would exceed the default number of locks.
  for (const schema of schemas) await database.query(`drop schema if exists "${schema}" cascade`);
  return schemas;
};
