import { isoTimeSql } from '#contracts/values/time.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';

/** Maximum points of a trajectory, the newest; daily points cover more than two years. */
export const TRAJECTORY_POINTS_MAX = 800;

const TRAJECTORY = `
  select '{"date":"' || date || '","global_ranking":' || coalesce(global_ranking::text, 'null')
    || ',"category_ranking":' || coalesce(category_ranking::text, 'null')
    || ',"monthly_visits":' || coalesce(monthly_visits::text, 'null') || '}' as item
  from traffic.point where brand_id = $1 order by date desc limit ${TRAJECTORY_POINTS_MAX}`;

/** Returns the points of a brand's site as JSON texts, oldest first. */
export const readTrajectory = async (db: ReadDatabase, brandId: string): Promise<readonly string[]> => {
  const rows = await db.query<{ item: string }>({ sql: TRAJECTORY, values: [brandId] });
  return rows.map(({ item }) => item).toReversed();
};

const SITE = `
  select ${isoTimeSql('observed_at')} as as_of, demographics
  from traffic.site where brand_id = $1 and observed_at is not null`;

export type EstimatedSite = {
  /** Time of the newest estimate of the site. */
  readonly as_of: string;
  /** JSON text; `null` if no estimate has demographics. */
  readonly demographics: string | null;
};

/** Returns the latest estimate of the brand's site, or `null` if there is none. */
export const findEstimatedSite = async (db: ReadDatabase, brandId: string): Promise<EstimatedSite | null> =>
  (await db.query<EstimatedSite>({ sql: SITE, values: [brandId] }))[0] ?? null;
