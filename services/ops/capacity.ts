import { z } from 'zod';
import type { Database } from '#platform/postgres/pool.ts';

/** Sizes and speed of this installation are measured, and those for another number of events are in proportion. */

export const CapacityQuery = z.strictObject({
  events: z.coerce.number().int().min(1).max(1e12).optional(),
});

export type ReadModelSize = {
  readonly name: string;
  /** Estimate of the server's statistics. */
  readonly rows: number;
  /** With indexes. */
  readonly bytes: number;
};

export type Measured = {
  readonly events: number;
  /** Commit position at the head: EventStoreDB counts bytes of its transaction file. */
  readonly log_bytes: number;
  readonly read_models: readonly ReadModelSize[];
  /** The last replay of all read models at once decides; `null` without one. */
  readonly replayed_per_second: number | null;
};

export type Forecast = {
  readonly events: number;
  readonly log_bytes: number;
  readonly read_model_bytes: number;
  /** While all are rebuilt: the tables that are served, and those of the rebuild. */
  readonly rebuilding_bytes: number;
  readonly replay_seconds: number | null;
};

const SIZES = `
  select m.name, coalesce(sum(greatest(c.reltuples, 0)), 0)::float8 as rows,
    coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 as bytes
  from projector.read_model m
  left join pg_namespace n on n.nspname = replace(m.name, '-', '_')
  left join pg_class c on c.relnamespace = n.oid and c.relkind = 'r'
  group by m.name order by bytes desc, m.name`;

const LOG = `
  select coalesce(sum(c.facts), 0)::float8 as events, max(l.position)::float8 as bytes
  from projector.log l left join projector.log_count c on true`;

/** Builds that start together begin within some seconds. The log may have grown since. */
const TOGETHER_SECONDS = 30;
const LAST_REPLAY = `
  with done as (
    select * from projector.build where state = 'done' and resumed_facts = 0
  ), last as (
    select * from done where started_at > (select max(started_at) from done) - make_interval(secs => ${TOGETHER_SECONDS})
  )
  select count(*)::int as builds, (select count(*)::int from projector.read_model) as all,
    extract(epoch from max(finished_at) - min(started_at))::float8 as seconds, max(position)::float8 as bytes
  from last`;

type Replay = {
  readonly builds: number;
  readonly all: number;
  readonly seconds: number | null;
  readonly bytes: number | null;
};

export const measureCapacity = async (database: Database): Promise<Measured> => {
  const [sizes, log, replay] = await Promise.all([
    database.query<ReadModelSize>(SIZES),
    database.query<{ events: number; bytes: number | null }>(LOG),
    database.query<Replay>(LAST_REPLAY),
  ]);
  const { events = 0, bytes = 0 } = log.rows[0] ?? {};
  const last = replay.rows[0];
  const replayed =
    last !== undefined && last.builds === last.all && last.seconds && last.bytes && bytes
      ? (events * Math.min(1, last.bytes / bytes)) / last.seconds
      : null;
  return { events, log_bytes: bytes ?? 0, read_models: sizes.rows, replayed_per_second: replayed };
};

/** In proportion to the number of events. */
export const forecast = (measured: Measured, events: number): Forecast => {
  const share = measured.events === 0 ? 0 : events / measured.events;
  const tables = measured.read_models.reduce((sum, { bytes }) => sum + bytes, 0) * share;
  const { replayed_per_second: rate } = measured;
  return {
    events,
    log_bytes: Math.round(measured.log_bytes * share),
    read_model_bytes: Math.round(tables),
    rebuilding_bytes: Math.round(2 * tables),
    replay_seconds: rate === null ? null : Math.ceil(events / rate),
  };
};
