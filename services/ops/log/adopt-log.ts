import { Refusal } from '#contracts/errors.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { projections } from '#projections/index.ts';

/** Suffixes of the schemas of a projection: live, being built, replaced, replaced before that, and compared. */
const SUFFIXES = ['', '_next', '_old', '_dropped', '_verify'];
/**
 * Schemas of processes with positions of the log, or with what was computed from it. `run` comes last: it holds the mark by
 * which processes refuse to start on another log, so that they also refuse while this is half done.
 */
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

/**
 * Drops everything that was computed from a log, so that it is computed from another one: positions of one log mean nothing in
 * another. Keeps vaults, sign-ins, deliveries and keys of collectors. Returns the schemas. Throws `Refusal` while other
 * processes are connected. Can be repeated when it was interrupted.
 */
export const adoptLog = async (database: Database): Promise<readonly string[]> => {
  await requireAlone(database);
  const wanted = derivedSchemas();
  const found = await database.query<{ nspname: string }>(
    'select nspname from pg_namespace where nspname = any($1)',
    [wanted],
  );
  const there = new Set(found.rows.map(({ nspname }) => nspname));
  const schemas = wanted.filter((schema) => there.has(schema));
  // One statement each: a transaction over all of them would hold more locks than the server has by default.
  for (const schema of schemas) await database.query(`drop schema if exists "${schema}" cascade`);
  return schemas;
};
