import { Refusal } from '#contracts/errors.ts';
import { PROJECTOR_CONTROL_CHANNEL } from '#contracts/messages/projector-control.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** The projector's own tables, as operators read and ask in them. Processes meet there, and need no other way. */

/** While a build or a verification is watched, it is looked at this often. */
export const WATCH_EVERY_MS = 250;

/** No such table, schema or column. */
const NOT_MADE = ['42P01', '3F000', '42703'];

/** Says in words that no projector has made its tables here. */
export const fromProjector = async <T>(read: () => Promise<T>): Promise<T> => {
  try {
    return await read();
  } catch (error) {
    if (!NOT_MADE.includes((error as { code?: string }).code ?? '')) throw error;
    const refusal = new Refusal('not_found', 'No projector of this version has run on this database yet.');
    throw Object.assign(refusal, { cause: error });
  }
};

export const unknownProjection = (name: string): Refusal =>
  new Refusal('not_found', `There is no projection ${name}. The status of all names those there are.`);

/** Of one that is mistyped there is nothing, and that would be taken for good news. */
export const requireProjection = async (database: Database, name: string): Promise<void> => {
  const { rows } = await fromProjector(() =>
    database.query('select from projector.projection where name = $1', [name]),
  );
  if (rows.length === 0) throw unknownProjection(name);
};

/** Changes something of a projection (`$1` is its name) and tells projectors; answers how many rows that were. */
export const ask = async (
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
