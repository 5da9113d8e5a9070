import type { ReadDatabase } from '#contracts/read-database.ts';

const WEEKS = `
  select item from (
    select week_start, item from velocity.week where brand_id = $1 order by week_start desc limit $2
  ) w order by week_start`;

/** The latest `weeks` ISO weeks that have an observed day, oldest first. */
export const readVelocity = async (
  db: ReadDatabase,
  brandId: string,
  weeks: number,
): Promise<readonly string[]> => {
  const rows = await db.query<{ item: string }>({ sql: WEEKS, values: [brandId, weeks] });
  return rows.map(({ item }) => item);
};
