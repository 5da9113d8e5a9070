import { isoTimeSql } from '#contracts/values/time.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { fromProjector } from '../projections/projector-tables.ts';

export const POINT_SECONDS = 30;

export type LagSeries = {
  readonly projection: string;
  readonly at: readonly string[];
  readonly lag_facts: readonly number[];
};

export const readLagSeries = async (database: Database): Promise<readonly LagSeries[]> => {
  const { rows } = await fromProjector(() =>
    database.query<LagSeries>(
      `select name as projection, array_agg(${isoTimeSql('point')} order by point) as at,
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
