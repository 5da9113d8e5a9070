import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { type ItemsAsOf, itemsAsOfSql, readItemsAsOf } from '../shared-tables/applied-scan.ts';

// Counts back from the brand's own latest observed week.
const WEEKS = itemsAsOfSql(
  'velocity',
  `select item from velocity.week
  where brand_id = $1
    and week_start > (select max(week_start) from velocity.week where brand_id = $1) - 7 * $2::int
  order by week_start`,
);

/** Weeks with an observed day among the latest `weeks`, oldest first. */
export const readVelocity = (db: ReadDatabase, brandId: string, weeks: number): Promise<ItemsAsOf> =>
  readItemsAsOf(db, WEEKS, [brandId, weeks]);
