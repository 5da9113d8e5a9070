import { Refusal } from '#contracts/errors.ts';
import { PROJECTOR_CONTROL_CHANNEL } from '#contracts/messages/projector-control.ts';
import type { Database } from '#platform/postgres.ts';

/** The projector's own tables, as operators read and ask in them. Processes meet there, and need no other way. */

/** While a build or a verification is watched, it is looked at this often. */
export const WATCH_EVERY_MS = 250;

/** SQL of a time as text. */
export const isoTime = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

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

/** Changes something of a projection (`$1` is its name) and tells projectors; answers how many rows that were. */
export const ask = async (
  database: Database,
  name: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<number> => {
  const there = await fromProjector(() =>
    database.query('select from projector.projection where name = $1', [name]),
  );
  if (there.rows.length === 0) throw unknownProjection(name);
  const { rowCount } = await database.query(sql, [name, ...values]);
  await database.query(`select pg_notify('${PROJECTOR_CONTROL_CHANNEL}', $1)`, [name]);
  return rowCount ?? 0;
};
