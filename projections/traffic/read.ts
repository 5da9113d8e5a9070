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

/** SQL of the newest estimate of any site as ISO text; null before the first. */
const NEWEST_ESTIMATE_SQL = `(select ${isoTimeSql('max(observed_at)')} from traffic.site)`;

/** Returns the newest estimate of any site, or `null`. Send it before the query of the figures. */
export const readNewestEstimate = async (db: ReadDatabase): Promise<string | null> =>
  (await db.query<{ at: string | null }>({ sql: `select ${NEWEST_ESTIMATE_SQL} as at`, values: [] }))[0]
    ?.at ?? null;

const SITE = `
  select coalesce(${isoTimeSql('s.observed_at')}, ${NEWEST_ESTIMATE_SQL}) as as_of, s.demographics
  from (select $1::uuid as brand_id) b left join traffic.site s using (brand_id)`;

export type EstimatedSite = {
  /** Newest estimate of the site; without one, the newest estimate of any site, or `null`. */
  readonly as_of: string | null;
  /** JSON text; `null` if no estimate has demographics. */
  readonly demographics: string | null;
};

/** Returns the latest estimate of the brand's site. Send it before other queries of the same reply. */
export const readEstimatedSite = async (db: ReadDatabase, brandId: string): Promise<EstimatedSite> =>
  (await db.query<EstimatedSite>({ sql: SITE, values: [brandId] }))[0] ?? { as_of: null, demographics: null };
