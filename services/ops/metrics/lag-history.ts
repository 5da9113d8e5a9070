import type { Database } from '#platform/postgres/pool.ts';
import { isoTime } from '#platform/postgres/iso-time.ts';
import { fromProjector } from '../projections/projector-tables.ts';

/** A point of a plot stands for so many seconds, and for the most that was behind in them. */
export const POINT_SECONDS = 30;

/** Points of the last hour, oldest first; beside each other as two lists, since there are thousands. */
export type LagSeries = {
  readonly projection: string;
  readonly at: readonly string[];
  readonly lag_facts: readonly number[];
};

/** How far projections were behind over the last hour, of what the projector writes down every few seconds. */
export const readLagSeries = async (database: Database): Promise<readonly LagSeries[]> => {
  const { rows } = await fromProjector(() =>
    database.query<LagSeries>(
      `select name as projection, array_agg(${isoTime('point')} order by point) as at,
         array_agg(lag order by point) as lag_facts
       from (
         select name, date_bin(make_interval(secs => ${POINT_SECONDS}), at, 'epoch') as point,
           max(lag_facts)::float8 as lag
         from projector.sample where at > now() - interval '1 hour' group by name, point
       ) points group by name order by name`,
    ),
  );
  return rows;
};
