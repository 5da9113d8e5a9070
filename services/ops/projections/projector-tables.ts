import { Refusal } from '#contracts/errors.ts';
import { PROJECTOR_CONTROL_CHANNEL } from '#contracts/messages/projector-control.ts';
import type { Database } from '#platform/postgres/pool.ts';

/**
 * Reads and requests on the projector's control tables. Operator commands and projectors communicate through these
 * tables only: an operator writes a request, and the projector that owns the projection carries it out.
 */

/** Poll interval while a rebuild or a verification is watched. */
export const WATCH_EVERY_MS = 250;

/** SQL states: undefined table, schema or column. */
const NOT_MADE = ['42P01', '3F000', '42703'];
/** SQL state: this statement was chosen as the victim of a deadlock. */
const DEADLOCK_DETECTED = '40P01';
/** Maximum attempts of one read. No delay between them: Postgres waits `deadlock_timeout` before it reports one. */
const READ_ATTEMPTS = 3;

const codeOf = (error: unknown): string => (error as { code?: string }).code ?? '';

/**
 * Runs one read-only statement on the projector's tables. Throws `not_found` when no projector has created them yet.
 *
 * Retries when Postgres aborts the read because of a deadlock. A starting projector of a newer version alters these
 * tables one after another, each under an ACCESS EXCLUSIVE lock. A read locks the same tables in the order of its
 * query. The aborted read has changed nothing, so it is safe to run again.
 */
export const fromProjector = async <T>(read: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      if (codeOf(error) === DEADLOCK_DETECTED && attempt < READ_ATTEMPTS) continue;
      if (!NOT_MADE.includes(codeOf(error))) throw error;
      const refusal = new Refusal(
        'not_found',
        'The tables of the projector do not exist yet. Start a projector of this version on this database.',
      );
      throw Object.assign(refusal, { cause: error });
    }
  }
};

export const unknownProjection = (name: string): Refusal =>
  new Refusal('not_found', `Projection ${name} not found. \`projections status\` lists all projections.`);

/** Throws `not_found` for an unknown name, whose empty result would look like good news. */
export const requireProjection = async (database: Database, name: string): Promise<void> => {
  const { rows } = await fromProjector(() =>
    database.query('select from projector.projection where name = $1', [name]),
  );
  if (rows.length === 0) throw unknownProjection(name);
};

/**
 * Runs a statement that requests something of a projection (`$1` is its name), and notifies all projectors. Returns
 * the number of changed rows. Throws `not_found` for an unknown projection.
 */
export const sendRequest = async (
  database: Database,
  name: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<number> => {
  await requireProjection(database, name);
  const { rowCount } = await database.query(sql, [name, ...values]);
  await database.query(`select pg_notify('${PROJECTOR_CONTROL_CHANNEL}', $1)`, [name]);
  return rowCount ?? 0;
};
