import type { ReadDatabase } from '#contracts/read-database.ts';

/**
 * The brands of a workspace and when any of them was last scanned, by one statement over two projections:
 * the radar is as of that scan, also when it showed no change.
 */
const TRACKED = `
  select k.brand_id,
    to_char(max(b.scanned_at) over () at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as as_of
  from tracking.tracked_brand k left join freshness.brand b using (brand_id)
  where k.workspace_id = $1`;

export const readTrackedAndScanned = async (
  db: ReadDatabase,
  workspaceId: string,
): Promise<{ readonly brandIds: readonly string[]; readonly asOf: string | null }> => {
  const rows = await db.query<{ brand_id: string; as_of: string | null }>({
    sql: TRACKED,
    values: [workspaceId],
  });
  return { brandIds: rows.map((row) => row.brand_id), asOf: rows[0]?.as_of ?? null };
};
