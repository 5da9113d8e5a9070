import type { ReadDatabase } from '#contracts/ports/read-database.ts';

/** Maximum days in one read. */
export const DAYS_MAX = 366;

const DAYS = `
  select row_to_json(d)::text as item from (
    select date, active_ads, new_ads, retired_ads, reliable from daily_activity.day
    where brand_id = $1 and date >= coalesce($2::date, '-infinity') and date <= coalesce($3::date, 'infinity')
    order by date desc limit ${DAYS_MAX}
  ) d order by date`;

/** Returns observed days, oldest first. If there are more than `DAYS_MAX`, returns the latest. */
export const readDailyActivity = async (
  db: ReadDatabase,
  brandId: string,
  window: { readonly from?: string; readonly to?: string },
): Promise<readonly string[]> => {
  const rows = await db.query<{ item: string }>({
    sql: DAYS,
    values: [brandId, window.from ?? null, window.to ?? null],
  });
  return rows.map(({ item }) => item);
};
