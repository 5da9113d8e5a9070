import { DAY_MS, utcDate, utcDateOfMs } from '#contracts/values/time.ts';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { appliedScan, recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { observedDay, refreshDay } from '../shared-tables/observed-day.ts';
import { type Change, projection } from '../define-projection.ts';

const weekStartOf = (timestamp: string): string => {
  const day = Date.parse(utcDate(timestamp));
  const sinceMonday = (new Date(day).getUTCDay() + 6) % 7;
  return utcDateOfMs(day - sinceMonday * DAY_MS);
};

export const velocity = projection<AdLibraryEvent>({
  name: 'velocity',
  version: 5,
  prefixes: ['adLibrary-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    day: refreshDay,
    applied_scan: recordAppliedScan,
    roll_up: {
      columns: { brand_id: 'uuid', week_start: 'date' },
      touches: ['day', 'week'],
      sql: `
        with gone as (
          delete from week w using :input i where w.brand_id = i.brand_id and w.week_start = i.week_start
            and not exists (
              select from day d where d.brand_id = i.brand_id and d.date between i.week_start and i.week_start + 6)
        )
        insert into week (brand_id, week_start, item)
        select w.brand_id, w.week_start, row_to_json(item)::text
        from (
          select d.brand_id, i.week_start,
            (array_agg(d.active_ads order by d.date desc))[1] as active_ads,
            coalesce(sum(d.new_ads) filter (where d.reliable), 0)::bigint as new_ads,
            coalesce(sum(d.retired_ads) filter (where d.reliable), 0)::bigint as retired_ads,
            count(*) filter (where d.reliable) as reliable_days
          from :input i join day d on d.brand_id = i.brand_id and d.date between i.week_start and i.week_start + 6
          group by 1, 2
        ) w cross join lateral (
          select w.week_start, w.active_ads, w.new_ads, w.retired_ads, w.reliable_days
        ) item
        on conflict (brand_id, week_start) do update set item = excluded.item`,
    },
  },
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'ScanRecorded':
      case 'ScanCorrected': {
        const { brand_id, observed_at } = event.data;
        const row = { brand_id, week_start: weekStartOf(observed_at) };
        return [...observedDay(event), appliedScan(event), { kind: 'refresh', statement: 'roll_up', row }];
      }
      case 'AdStarted':
      case 'AdRevised':
      case 'AdDetailsObserved':
      case 'AdDestinationChanged':
      case 'AdConfirmedInactive':
      case 'AdReturned':
      case 'AdsMissed':
      case 'AdsSeen':
      case 'AdsStillInactive':
      case 'AdsReworded':
      case 'AdObservationCorrected':
      case 'AdAttributed':
        return [];
    }
  },
});
