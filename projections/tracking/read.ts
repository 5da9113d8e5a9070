import type { ReadDatabase } from '#contracts/ports/read-database.ts';

const COUNT = 'select count(*)::int as used from tracking.tracked_brand where workspace_id = $1';

export const countTrackedBrands = async (db: ReadDatabase, workspaceId: string): Promise<number> =>
  (await db.query<{ used: number }>({ sql: COUNT, values: [workspaceId] }))[0]?.used ?? 0;

const IS_TRACKED = 'select from tracking.tracked_brand where workspace_id = $1 and brand_id = $2';

export const isTrackedBrand = async (
  db: ReadDatabase,
  workspaceId: string,
  brandId: string,
): Promise<boolean> => (await db.query({ sql: IS_TRACKED, values: [workspaceId, brandId] })).length > 0;

const TRACKED_BEFORE = `
  select workspace_id, array_agg(brand_id::text order by brand_id) as brand_ids from tracking.tracked_brand
  where tracked_at < $1 group by workspace_id order by workspace_id`;

/** `time`: ISO timestamp. */
export const listWorkspacesTracking = (
  db: ReadDatabase,
  time: string,
): Promise<readonly { readonly workspace_id: string; readonly brand_ids: readonly string[] }[]> =>
  db.query({ sql: TRACKED_BEFORE, values: [time] });
