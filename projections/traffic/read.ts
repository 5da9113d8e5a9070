import { isoTimeSql } from '#contracts/values/time.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';

/** The newest points; daily points cover more than two years. */
export const TRAJECTORY_POINTS_MAX = 800;

const TRAJECTORY = `
  select '{"date":"' || date || '","global_ranking":' || coalesce(global_ranking::text, 'null')
    || ',"category_ranking":' || coalesce(category_ranking::text, 'null')
    || ',"monthly_visits":' || coalesce(monthly_visits::text, 'null') || '}' as item
  from traffic.point where brand_id = $1 order by date desc limit ${TRAJECTORY_POINTS_MAX}`;

export const readTrajectory = async (db: ReadDatabase, brandId: string): Promise<readonly string[]> => {
  const rows = await db.query<{ item: string }>({ sql: TRAJECTORY, values: [brandId] });
  return rows.map(({ item }) => item).toReversed();
};

const NEWEST_ESTIMATE = `select ${isoTimeSql('max(observed_at)')} as at from traffic.site`;

/** `null` without any estimate. Send it before the query of the figures. */
export const readNewestEstimate = async (db: ReadDatabase): Promise<string | null> =>
  (await db.query<{ at: string | null }>({ sql: NEWEST_ESTIMATE, values: [] }))[0]?.at ?? null;

const SITE = `select ${isoTimeSql('observed_at')} as as_of, demographics from traffic.site where brand_id = $1`;

export type EstimatedSite = {
  /** `null` before the first estimate. */
  readonly as_of: string | null;
  /** JSON text; `null` if no estimate has demographics. */
  readonly demographics: string | null;
};

/** Send it before other queries of the same reply. */
export const readEstimatedSite = async (db: ReadDatabase, brandId: string): Promise<EstimatedSite> =>
  (await db.query<EstimatedSite>({ sql: SITE, values: [brandId] }))[0] ?? { as_of: null, demographics: null };
