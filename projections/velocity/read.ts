import type { ReadDatabase } from '#contracts/ports/read-database.ts';

// The weeks count back from the brand's own latest observed week.
const WEEKS = `
  select item from velocity.week
  where brand_id = $1
    and week_start > (select max(week_start) from velocity.week where brand_id = $1) - 7 * $2::int
  order by week_start`;

/** Returns the ISO weeks with an observed day among the latest `weeks`, oldest first. */
export const readVelocity = async (
  db: ReadDatabase,
  brandId: string,
  weeks: number,
): Promise<readonly string[]> => {
  const rows = await db.query<{ item: string }>({ sql: WEEKS, values: [brandId, weeks] });
  return rows.map(({ item }) => item);
};
