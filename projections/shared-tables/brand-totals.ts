import type {
  AdAttributed,
  AdObservationCorrected,
  ScanCorrected,
} from '#contracts/events/corpus/ad-library-corrections.ts';
import type { ScanRecorded } from '#contracts/events/corpus/ad-library.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Change, Row, Statement } from '../define-projection.ts';
import { newestLookSql } from './applied-scan.ts';
import { isOutOfOrder } from './observed-day.ts';

/**
 * Tables `brand_totals` and `brand_move` of a projection. The newest scan by time and id decides the totals, also if it
 * was no look; replies are as of the newest look. A scan states totals with all moves up to its time; later moves are
 * added. Events out of order state the present, which counts until a newer scan.
 */
const COLUMNS = {
  brand_id: 'uuid',
  revision: 'bigint',
  scanned_at: 'timestamptz',
  scan_id: 'text',
  active_ads: 'bigint',
  total_ads: 'bigint',
  active_now: 'bigint',
  total_now: 'bigint',
  looked_at: 'timestamptz',
  resets: 'boolean',
} as const;

/** +1 in the stream of the brand that gets the ad, -1 in that of the brand that loses it. */
export const attributedBy = ({ data }: AdAttributed): 1 | -1 => (data.brand_id === data.to_brand_id ? 1 : -1);

type Counted = RecordedEvent<ScanRecorded | ScanCorrected | AdAttributed | AdObservationCorrected>;

const rowOf = (event: Counted): Row => {
  const { revision, data } = event;
  const now = { active_now: data.ads_now?.active ?? null, total_now: data.ads_now?.total ?? null };
  if (event.type === 'AdAttributed' || event.type === 'AdObservationCorrected') {
    const by = event.type === 'AdAttributed' ? attributedBy(event) : 0;
    const { brand_id, observed_at: scanned_at } = data;
    const active_ads = event.type === 'AdAttributed' && event.data.ad.status === 'inactive' ? 0 : by;
    const none = { scan_id: null, looked_at: null, resets: false };
    return { brand_id, revision, scanned_at, active_ads, total_ads: by, ...none, ...now };
  }
  const { brand_id, observed_at, scan_id, totals } = event.data;
  const { active: active_ads, total: total_ads } = totals;
  const last = event.type === 'ScanCorrected' ? event.data.last_look : undefined;
  const resets = last !== undefined;
  const looked_at = last === undefined ? observed_at : (last?.observed_at ?? null);
  const stated = { scanned_at: observed_at, scan_id, active_ads, total_ads };
  return { brand_id, revision, ...stated, looked_at, resets, ...now };
};

/** Run by a statement named `totals`. Totals of another time than the scan's own change nothing. */
export const brandTotals = (event: Counted): readonly Change[] =>
  (event.type === 'ScanRecorded' && isOutOfOrder(event)) ||
  (event.type === 'AdObservationCorrected' && event.data.ads_now === undefined)
    ? []
    : [{ kind: 'run', statement: 'totals', row: rowOf(event) }];

/** A row without a scan is a move, or an ad that was decided again. */
export const recordTotals: Statement = {
  columns: COLUMNS,
  touches: ['brand_totals', 'brand_move'],
  sql: `
    with said as materialized (select * from :input i), moves as materialized (
      select brand_id, scanned_at as at, sum(active_ads)::bigint as active_ads, sum(total_ads)::bigint as total_ads
      from said where scan_id is null and total_ads <> 0 group by 1, 2
    ), stored as (
      insert into brand_move as m (brand_id, at, active_ads, total_ads) select * from moves
      on conflict (brand_id, at) do update set active_ads = m.active_ads + excluded.active_ads,
        total_ads = m.total_ads + excluded.total_ads
    ), newest as (
      select distinct on (brand_id) * from said where scan_id is not null
      order by brand_id, scanned_at desc, scan_id collate "C" desc, revision desc
    ), counted as (
      select distinct on (brand_id) brand_id, revision, active_now, total_now from said where total_now is not null
      order by brand_id, revision desc
    ), stated as (
      select b.brand_id,
        coalesce(n.revision, o.stated_revision) as stated_revision,
        coalesce(c.revision, o.counted_revision) as counted_revision,
        coalesce(c.active_now, o.active_now) as active_now,
        coalesce(c.total_now, o.total_now) as total_now,
        case when n.revision is null then o.scanned_at else n.scanned_at end as scanned_at,
        case when n.revision is null then o.scan_id else n.scan_id end as scan_id,
        case when n.revision is null then coalesce(o.stated_active_ads, 0) else n.active_ads end as active_ads,
        case when n.revision is null then coalesce(o.stated_total_ads, 0) else n.total_ads end as total_ads
      from (select distinct brand_id from said) b left join brand_totals o using (brand_id)
      left join counted c using (brand_id)
      left join newest n on n.brand_id = b.brand_id and (o.scanned_at is null or n.scanned_at > o.scanned_at
        or (n.scanned_at = o.scanned_at and n.scan_id collate "C" >= o.scan_id))
    ), look as materialized (${newestLookSql('looked_at', 'revision')})
    insert into brand_totals
      (brand_id, scanned_at, scan_id, stated_active_ads, stated_total_ads, stated_revision, active_now, total_now,
        counted_revision, active_ads, total_ads, looked_at)
    select t.brand_id, t.scanned_at, t.scan_id, t.active_ads, t.total_ads, t.stated_revision, t.active_now, t.total_now,
      t.counted_revision,
      case when t.counted_revision >= coalesce(t.stated_revision, 0) then t.active_now else t.active_ads + m.active_ads end,
      case when t.counted_revision >= coalesce(t.stated_revision, 0) then t.total_now else t.total_ads + m.total_ads end,
      case when l.resets then l.at else greatest(o.looked_at, l.at) end
    from stated t join look l using (brand_id) left join brand_totals o using (brand_id) cross join lateral (
      select coalesce(sum(active_ads), 0)::bigint as active_ads, coalesce(sum(total_ads), 0)::bigint as total_ads
      from (select * from brand_move union all select * from moves) m
      where m.brand_id = t.brand_id and m.at > coalesce(t.scanned_at, '-infinity')
    ) m
    on conflict (brand_id) do update set scanned_at = excluded.scanned_at, scan_id = excluded.scan_id,
      stated_active_ads = excluded.stated_active_ads, stated_total_ads = excluded.stated_total_ads,
      stated_revision = excluded.stated_revision, active_now = excluded.active_now, total_now = excluded.total_now,
      counted_revision = excluded.counted_revision, active_ads = excluded.active_ads, total_ads = excluded.total_ads,
      looked_at = excluded.looked_at`,
};

export const takeTotals: Statement = {
  columns: { brand_id: 'uuid' },
  touches: ['brand_totals', 'brand'],
  sql: `
    insert into brand (brand_id, scanned_at, active_ads, total_ads)
    select brand_id, looked_at, active_ads, total_ads from brand_totals join :input i using (brand_id)
    on conflict (brand_id) do update set scanned_at = excluded.scanned_at, active_ads = excluded.active_ads,
      total_ads = excluded.total_ads`,
};
