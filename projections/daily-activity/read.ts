import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { utcDateSql } from '#contracts/values/windows.ts';
import { type ItemsAsOf, itemsAsOfSql, readItemsAsOf } from '../shared-tables/applied-scan.ts';

export const DAYS_MAX = 366;

const FIRST_DAY = `(
  select ${utcDateSql('w.scanned_at')} - ${DAYS_MAX} + 1 from daily_activity.applied_scan w where w.brand_id = $1)`;

const DAYS = itemsAsOfSql(
  'daily_activity',
  `select row_to_json(d)::text from (
    select date, active_ads, new_ads, retired_ads, reliable from daily_activity.day
    where brand_id = $1 and date >= coalesce($2::date, ${FIRST_DAY}) and date <= coalesce($3::date, 'infinity')
    order by date desc limit ${DAYS_MAX}
  ) d order by date`,
);

/** Observed days, oldest first; without dates the last `DAYS_MAX`, and never more. */
export const readDailyActivity = (
  db: ReadDatabase,
  brandId: string,
  window: { readonly from?: string; readonly to?: string },
): Promise<ItemsAsOf> => readItemsAsOf(db, DAYS, [brandId, window.from ?? null, window.to ?? null]);
