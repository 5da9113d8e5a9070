import { Refusal } from '#contracts/errors.ts';
import { PROJECTOR_CONTROL_CHANNEL } from '#contracts/messages/projector.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** Operators write requests into these tables; the projector that owns the projection carries them out. */

export const WATCH_EVERY_MS = 250;

/** SQL states: undefined table, schema or column. */
const NOT_MADE = ['42P01', '3F000', '42703'];
const DEADLOCK_DETECTED = '40P01';
const READ_ATTEMPTS = 3;

const codeOf = (error: unknown): string => (error as { code?: string }).code ?? '';

/**
 * Runs a read; throws `not_found` without tables. Retries after a deadlock, because a starting projector of a newer
 * version alters these tables under exclusive locks.
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

/** Throws `not_found` for an unknown name; its empty result would look like success. */
export const requireProjection = async (database: Database, name: string): Promise<void> => {
  const { rows } = await fromProjector(() =>
    database.query('select from projector.projection where name = $1', [name]),
  );
  if (rows.length === 0) throw unknownProjection(name);
};

/** `$1` of the statement is the projection. Notifies all projectors. Throws `not_found` for an unknown projection. */
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
