import { isoTimeSql } from '#contracts/values/time.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { pause } from '#platform/clock.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import { type Build, BUILD_JSON } from './builds.ts';
import { fromProjector, unknownProjection } from './projector-tables.ts';

const RATE_SECONDS = 60;
const OLDEST_LIMIT_MS = 2_000;
const OLDEST_TAKE = 50;

export type ProjectionStatus = {
  readonly name: string;
  /** `failed`: a changed version could not be built, so the tables no longer change. */
  readonly state: 'building' | 'live' | 'paused' | 'failed';
  readonly version: number;
  /** Version of this code; `null` when it does not contain the projection. */
  readonly code_version: number | null;
  readonly position: string;
  readonly facts_applied: number;
  /** Events not yet applied, at the last count of the log. Parked events are not included. */
  readonly lag_facts: number;
  /** Age of the oldest unapplied event in seconds; 0 without one, `null` when the event store did not answer in time. */
  readonly lag_seconds: number | null;
  readonly rate_per_second: number;
  readonly parked: number;
  readonly skipped: number;
  /** The projector process that owns the projection; `null` when none does. */
  readonly owner: string | null;
  readonly last_error: string | null;
  /** Next attempt while batches fail, for another reason than an event. */
  readonly next_try: string | null;
  readonly updated_at: string;
  /** Time since which events wait but the position does not advance. */
  readonly standing_since: string | null;
  /** Time of the last swap, while the replaced tables are still retained. */
  readonly replaced_at: string | null;
  readonly build: Build | null;
};

const STATUS = `
  select p.name, case when p.is_paused then 'paused' else p.state end as state, p.version, p.position::text,
    p.facts_applied::float8 as facts_applied, l.lag_facts::float8 as lag_facts, l.parked::int, l.skipped::int,
    coalesce((p.facts_applied - s.facts_applied) / nullif(extract(epoch from now() - s.at), 0), 0)::float8 as rate_per_second,
    p.owner, coalesce(h.error, p.last_error, k.error) as last_error, ${isoTimeSql('h.next_try')} as next_try, ${isoTimeSql('p.updated_at')} as updated_at,
    ${isoTimeSql('p.standing_since')} as standing_since, ${isoTimeSql('r.replaced_at')} as replaced_at, ${BUILD_JSON} as build, p.prefixes
  from projector.projection p join projector.lag l using (name)
  left join projector.replaced r using (name) left join projector.build b using (name)
  left join projector.behind h on h.projection = p.name and h.error is not null
  left join lateral (
    select at, facts_applied from projector.sample s
    where s.name = p.name and s.at > now() - make_interval(secs => ${RATE_SECONDS}) order by at limit 1
  ) s on true
  left join lateral (
    select error from projector.parked k where k.projection = p.name and error is not null
    order by coalesce(tried_at, parked_at) desc limit 1
  ) k on true
  where $1::text is null or p.name = $1 order by p.name`;

type Row = Omit<ProjectionStatus, 'code_version' | 'lag_seconds'> & { readonly prefixes: readonly string[] };

/** Returns `null` when there are none or the read timed out. */
const firstRecordedAt = async (
  eventStore: EventStore,
  position: bigint,
  prefixes: readonly string[],
): Promise<Date | null> => {
  const limit = new AbortController();
  await using follower = eventStore.follow({
    after: position === 0n ? null : position,
    prefixes,
    bufferItems: OLDEST_TAKE,
  });
  const readFirst = async (): Promise<Date | null> => {
    for (;;) {
      for (const item of await follower.take(OLDEST_TAKE)) {
        if (item.kind === 'event') return item.event.recordedAt;
        if (item.kind === 'caught_up') return null;
      }
      if (limit.signal.aborted) return null;
    }
  };
  try {
    return await Promise.race([
      readFirst().catch(() => null),
      pause(OLDEST_LIMIT_MS, limit.signal).then(() => null),
    ]);
  } finally {
    limit.abort();
  }
};

const lagSeconds = async (
  eventStore: EventStore,
  { position, prefixes, lag_facts }: Row,
): Promise<number | null> => {
  if (lag_facts === 0) return 0;
  const at = await firstRecordedAt(eventStore, BigInt(position), prefixes);
  return at === null ? null : Math.max(0, (Date.now() - at.getTime()) / 1_000);
};

export const readStatus = async (
  database: Database,
  eventStore: EventStore,
  projections: readonly Projection[],
  name: string | null = null,
): Promise<readonly ProjectionStatus[]> => {
  const { rows } = await fromProjector(() => database.query<Row>(STATUS, [name]));
  if (name !== null && rows.length === 0) throw unknownProjection(name);
  const lagByPosition = new Map<string, Promise<number | null>>();
  return Promise.all(
    rows.map(async (row) => {
      const { prefixes, ...status } = row;
      const key = `${row.lag_facts > 0} ${row.position} ${prefixes.join()}`;
      const seconds = lagByPosition.get(key) ?? lagSeconds(eventStore, row);
      lagByPosition.set(key, seconds);
      return {
        ...status,
        code_version: projections.find((one) => one.name === row.name)?.version ?? null,
        lag_seconds: await seconds,
      };
    }),
  );
};

const POINT_SECONDS = 30;

export type LagSeries = {
  readonly projection: string;
  readonly at: readonly string[];
  readonly lag_facts: readonly number[];
};

/** Lag of the last hour, the highest of each half minute. */
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
