import { utcDate } from '#contracts/values/time.ts';
import type { ScanCorrected } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { ScanRecorded } from '#contracts/events/corpus/ad-library.ts';
import type { Change, Row, Statement } from '../define-projection.ts';

/**
 * Tables `scan`, with one row per recorded scan, and `day`, derived from it. Scans are never folded into their day,
 * because a late scan or correction would then give other figures than a rebuild.
 */

/** True for a scan that was too late to be decided: its totals do not hold for its own time (rule 11). */
export const isOutOfOrder = ({ data }: ScanRecorded): boolean => data.late_arrival && !data.chronological;

/** The date comes first, so that a rebuild without indexes finds the scans of a day. */
export const scanKey = ({
  data,
}: ScanRecorded | ScanCorrected): {
  readonly brand_id: string;
  readonly date: string;
  readonly scan_id: string;
} => ({ brand_id: data.brand_id, date: utcDate(data.observed_at), scan_id: data.scan_id });

/** A correction puts the scan in order. */
const figuresOf = (event: ScanRecorded | ScanCorrected): Row => {
  const { reliable, totals } = event.data;
  const outOfOrder = event.type === 'ScanRecorded' && isOutOfOrder(event);
  return {
    // An out-of-order scan knows the ads that it saw, not how many were active on its day.
    active_ads: outOfOrder ? totals.seen : totals.active,
    new_ads: totals.news,
    retired_ads: totals.stopped,
    reliable: reliable && !outOfOrder,
    out_of_order: outOfOrder,
  };
};

/** True for a correction that turns the scan into no look at the brand. */
export const isNoLook = (event: ScanRecorded | ScanCorrected): boolean =>
  event.type === 'ScanCorrected' && event.data.no_look === true;

/** Needs `refreshDay` as statement `day`. A scan that was no look at the brand has no row. */
export const observedDay = (event: ScanRecorded | ScanCorrected): readonly Change[] => {
  const key = scanKey(event);
  const { brand_id, date } = key;
  const set = { observed_at: event.data.observed_at, ...figuresOf(event) };
  return [
    isNoLook(event) ? { kind: 'delete', table: 'scan', key } : { kind: 'upsert', table: 'scan', key, set },
    { kind: 'refresh', statement: 'day', row: { brand_id, date } },
  ];
};

/** Last scan first; scans of the same time by id. */
const LAST_FIRST = 's.out_of_order, s.observed_at desc, s.scan_id desc';

/** The last scan decides the active ads, never one out of order over one in order; new and retired ads are summed. */
export const refreshDay: Statement = {
  columns: { brand_id: 'uuid', date: 'date' },
  touches: ['scan', 'day'],
  sql: `
    with gone as (
      delete from day d using :input i where d.brand_id = i.brand_id and d.date = i.date
        and not exists (select from scan s where s.brand_id = i.brand_id and s.date = i.date)
    )
    insert into day (brand_id, date, active_ads, new_ads, retired_ads, reliable)
    select s.brand_id, s.date, (array_agg(s.active_ads order by ${LAST_FIRST}))[1],
      sum(s.new_ads), sum(s.retired_ads), bool_or(s.reliable)
    from :input i join scan s using (brand_id, date) group by 1, 2
    on conflict (brand_id, date) do update set active_ads = excluded.active_ads, new_ads = excluded.new_ads,
      retired_ads = excluded.retired_ads, reliable = excluded.reliable`,
};
