import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { utcDateSql } from '#contracts/values/windows.ts';
import { type ItemsAsOf, itemsAsOfSql, readItemsAsOf } from '../shared-tables/applied-scan.ts';

/** Maximum days in one read. */
export const DAYS_MAX = 366;

/** SQL of the first day of the window that ends with the brand's last scan. */
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

/**
 * Returns observed days, oldest first. Without dates, those of the last `DAYS_MAX` days. If there are more than
 * `DAYS_MAX`, returns the latest.
 */
export const readDailyActivity = (
  db: ReadDatabase,
  brandId: string,
  window: { readonly from?: string; readonly to?: string },
): Promise<ItemsAsOf> => readItemsAsOf(db, DAYS, [brandId, window.from ?? null, window.to ?? null]);
