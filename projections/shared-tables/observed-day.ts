import type { ScanRecorded } from '#contracts/events/corpus/ad-library.ts';
import type { Change, Statement } from '../define-projection.ts';

/**
 * A brand's day: a table `day` with `brand_id, date, active_ads, new_ads, retired_ads, reliable, observed_at,
 * late_arrival`. Several projections have one, each its own.
 *
 * The last scan of the day decides the active ads; new and retired ads are summed over its scans. A scan that
 * arrived late (rule 11) never overrides one that arrived in time.
 */
export const recordObservedDay: Statement = {
  columns: {
    brand_id: 'uuid',
    observed_at: 'timestamptz',
    active_ads: 'bigint',
    new_ads: 'bigint',
    retired_ads: 'bigint',
    reliable: 'boolean',
    late_arrival: 'boolean',
  },
  touches: ['day'],
  sql: `
    insert into day as d (brand_id, date, active_ads, new_ads, retired_ads, reliable, observed_at, late_arrival)
    select brand_id, (observed_at at time zone 'utc')::date,
      (array_agg(active_ads order by late_arrival, observed_at desc, active_ads))[1],
      sum(new_ads), sum(retired_ads), bool_or(reliable),
      (array_agg(observed_at order by late_arrival, observed_at desc))[1], bool_and(late_arrival)
    from :input i group by 1, 2
    on conflict (brand_id, date) do update set
      active_ads = case when (not excluded.late_arrival, excluded.observed_at) >= (not d.late_arrival, d.observed_at)
        then excluded.active_ads else d.active_ads end,
      observed_at = case when (not excluded.late_arrival, excluded.observed_at) >= (not d.late_arrival, d.observed_at)
        then excluded.observed_at else d.observed_at end,
      new_ads = d.new_ads + excluded.new_ads,
      retired_ads = d.retired_ads + excluded.retired_ads,
      reliable = d.reliable or excluded.reliable,
      late_arrival = d.late_arrival and excluded.late_arrival`,
};

/** Returns the change for one recorded scan, run by a statement named `record_day`. */
export const observedDay = ({ data }: ScanRecorded): Change => ({
  kind: 'run',
  statement: 'record_day',
  row: {
    brand_id: data.brand_id,
    observed_at: data.observed_at,
    // A late scan knows its own ads, not how many were active on its day.
    active_ads: data.late_arrival ? data.totals.seen : data.totals.active,
    new_ads: data.totals.news,
    retired_ads: data.totals.stopped,
    reliable: data.reliable && !data.late_arrival,
    late_arrival: data.late_arrival,
  },
});
