import type { EventStore } from '#platform/event-store/event-store.ts';
import { pause } from '#platform/clock.ts';
import { isHeldSql } from '#platform/postgres/leader-lock.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import { type Build, BUILD_JSON } from './builds.ts';
import { isoTime } from '#platform/postgres/iso-time.ts';
import { fromProjector, unknownProjection } from './projector-tables.ts';

/** The rate is that of so long a time, as far as it was watched. */
const RATE_SECONDS = 60;
/** Reading the oldest event that a projection lacks may take this long; then how old it is stays unknown. */
const OLDEST_LIMIT_MS = 2_000;
const OLDEST_TAKE = 50;

export type ProjectionStatus = {
  readonly name: string;
  /** `paused`: by an operator. `failed`: a changed version could not be built, and the tables stand still. */
  readonly state: 'building' | 'live' | 'paused' | 'failed';
  /** Of the tables. */
  readonly version: number;
  /** Of this code; `null` where it has no such projection. */
  readonly code_version: number | null;
  readonly position: string;
  readonly facts_applied: number;
  /** Events that are still to be applied, as the log was counted last; parked ones not among them. */
  readonly lag_facts: number;
  /** Age of the oldest of them; 0 when there is none, `null` when the event store did not say. */
  readonly lag_seconds: number | null;
  readonly rate_per_second: number;
  readonly parked: number;
  readonly skipped: number;
  /** The process that projects it; `null`: none does. */
  readonly owner: string | null;
  readonly last_error: string | null;
  readonly updated_at: string;
  /** Since when it stands still though there are events to apply. */
  readonly standing_since: string | null;
  /** Since when the tables that a swap replaced are kept. */
  readonly replaced_at: string | null;
  /** The last build beside, also one that is over. */
  readonly build: Build | null;
};

const STATUS = `
  select p.name, case when p.is_paused then 'paused' else p.state end as state, p.version, p.position::text,
    p.facts_applied::float8 as facts_applied, l.lag_facts::float8 as lag_facts, l.parked::int, l.skipped::int,
    coalesce((p.facts_applied - s.facts_applied) / nullif(extract(epoch from now() - s.at), 0), 0)::float8 as rate_per_second,
    case when ${isHeldSql('p.name')} then p.owner end as owner,
    coalesce(p.last_error, k.error) as last_error, ${isoTime('p.updated_at')} as updated_at,
    ${isoTime('p.standing_since')} as standing_since, ${isoTime('r.replaced_at')} as replaced_at, ${BUILD_JSON} as build, p.prefixes
  from projector.projection p join projector.lag l using (name)
  left join projector.replaced r using (name) left join projector.build b using (name)
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

/** When the first event after a position was recorded; `null` when there is none, or no answer in time. */
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
  const look = async (): Promise<Date | null> => {
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
      look().catch(() => null),
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

/** How every projection stands, or one. `projections`: those of this code. */
export const readStatus = async (
  database: Database,
  eventStore: EventStore,
  projections: readonly Projection[],
  name: string | null = null,
): Promise<readonly ProjectionStatus[]> => {
  const { rows } = await fromProjector(() => database.query<Row>(STATUS, [name]));
  if (name !== null && rows.length === 0) throw unknownProjection(name);
  // Those that stand at one place with one filter, as after a start, are asked about once.
  const asked = new Map<string, Promise<number | null>>();
  return Promise.all(
    rows.map(async (row) => {
      const { prefixes, ...status } = row;
      const place = `${row.lag_facts > 0} ${row.position} ${prefixes.join()}`;
      const seconds = asked.get(place) ?? lagSeconds(eventStore, row);
      asked.set(place, seconds);
      return {
        ...status,
        code_version: projections.find((one) => one.name === row.name)?.version ?? null,
        lag_seconds: await seconds,
      };
    }),
  );
};
