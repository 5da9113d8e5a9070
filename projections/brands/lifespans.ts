import { utcDate } from '#contracts/values/time.ts';
import type {
  AdObservationCorrected,
  AdAttributed,
  AdStanding,
} from '#contracts/events/corpus/ad-library-corrections.ts';
import {
  type AdConfirmedInactive,
  type AdReturned,
  type AdStarted,
} from '#contracts/events/corpus/ad-library.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { addToCounters } from '../sql/counter-table.ts';
import type { Change, Row, Statement } from '../define-projection.ts';

/**
 * Lifespans of ended ads (rule 12), from the start date or first day seen to the stop date or last day seen running. An
 * ad without an end day has none. A returned ad does not count until it ends again.
 */

type Step = {
  readonly first_seen_on?: string | null;
  /** True if `first_seen_on` replaces what is stored, also by `null`. */
  readonly resets?: boolean;
  readonly ended: boolean;
  readonly started_on?: string | null;
  /** `null` when the day of the end is unknown. */
  readonly ended_on?: string | null;
};

type AdEvent = AdStarted | AdConfirmedInactive | AdReturned | AdObservationCorrected | AdAttributed;

const step = (
  { data, revision }: RecordedEvent<AdEvent>,
  { first_seen_on = null, resets = false, ended, started_on = null, ended_on = null }: Step,
): Change => {
  const row: Row = {
    brand_id: data.brand_id,
    ad_id: data.ad_id,
    revision,
    first_seen_on,
    resets,
    ended,
    started_on,
    ended_on,
  };
  return { kind: 'run', statement: 'lifespans', row };
};

/** Stores the first day seen if the library gives no start date. */
export const lifespanAtStart = (event: RecordedEvent<AdStarted>): readonly Change[] =>
  event.data.started_on === null
    ? [step(event, { first_seen_on: utcDate(event.data.observed_at), ended: false })]
    : [];

export const lifespanAtStop = (event: RecordedEvent<AdConfirmedInactive>): Change => {
  const { started_on, stopped_on, last_seen_at } = event.data;
  const lastSeenOn = event.data.observed_running ? utcDate(last_seen_at) : null;
  return step(event, { ended: true, started_on, ended_on: stopped_on ?? lastSeenOn });
};

export const noLifespan = (event: RecordedEvent<AdReturned>): Change => step(event, { ended: false });

/** `null` removes the lifespan of a corrected or attributed ad. */
export const lifespanOf = (
  event: RecordedEvent<AdObservationCorrected | AdAttributed>,
  ad: AdStanding | null,
): Change => {
  if (ad === null) return step(event, { resets: true, ended: false });
  const { started_on, stopped_on, first_seen_at, seen_at, observed_running, status } = ad;
  return step(event, {
    first_seen_on: started_on === null ? utcDate(first_seen_at) : null,
    resets: true,
    ended: status === 'inactive',
    started_on,
    ended_on: stopped_on ?? (observed_running ? utcDate(seen_at) : null),
  });
};

/** The last step of an ad in its stream decides among those of one batch. */
export const recordLifespans: Statement = {
  columns: {
    brand_id: 'uuid',
    ad_id: 'text',
    revision: 'bigint',
    first_seen_on: 'date',
    resets: 'boolean',
    ended: 'boolean',
    started_on: 'date',
    ended_on: 'date',
  },
  touches: ['lifespan', 'lifespan_sum'],
  sql: `
    with said as materialized (select * from :input i), last as (
      select distinct on (brand_id, ad_id) * from said order by brand_id, ad_id, revision desc
    ), first as (
      select distinct on (brand_id, ad_id) * from said where resets or first_seen_on is not null
      order by brand_id, ad_id, revision desc
    ), stored as materialized (
      select n.brand_id, n.ad_id, o.days as days_before, n.first_seen_on,
        -- greatest() ignores null, so that the case excludes unknown days.
        case when n.ended and n.ended_on is not null and coalesce(n.started_on, n.first_seen_on) is not null
          then greatest(0, n.ended_on - coalesce(n.started_on, n.first_seen_on)) end as days
      from (
        select l.brand_id, l.ad_id, l.ended, l.started_on, l.ended_on,
          case when f.ad_id is null then o.first_seen_on else f.first_seen_on end as first_seen_on
        from last l left join first f using (brand_id, ad_id) left join lifespan o using (brand_id, ad_id)
      ) n left join lifespan o using (brand_id, ad_id)
    ), moved as (
      select brand_id, coalesce(days, 0) - coalesce(days_before, 0) as days,
        (days is not null)::int - (days_before is not null)::int as ads
      from stored
    ), ${addToCounters('lifespan_sum', ['brand_id'], ['days', 'ads'], 'moved')}, removed as (
      delete from lifespan o using stored s
      where o.brand_id = s.brand_id and o.ad_id = s.ad_id and s.days is null and s.first_seen_on is null
    )
    insert into lifespan (brand_id, ad_id, first_seen_on, days)
    select brand_id, ad_id, first_seen_on, days from stored where days is not null or first_seen_on is not null
    on conflict (brand_id, ad_id) do update set first_seen_on = excluded.first_seen_on, days = excluded.days`,
};
