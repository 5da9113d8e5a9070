import { SMALLEST_UUID } from '../sql/keyset-page.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import {
  allOfTrackedBrands,
  newestPerBrand,
  newestOfTrackedBrands,
  tracksFewBrands,
} from '../sql/newest-first-page.ts';
import { createParameters, RADAR_TABLE, radarItems, radarPage, type RadarRow } from '../sql/radar-json.ts';
import { scannedAtOfTracked } from '../sql/tracked-as-of.ts';

/** The last days up to each brand's last scan, or rows from `since` until before `until`, ISO timestamps. */
export type TrackedWindow =
  | { readonly days: number }
  | { readonly since: string; readonly until?: string | undefined };

export type TrackedRadarFilter = {
  readonly workspaceId: string;
  readonly window: TrackedWindow;
  readonly types?: readonly string[];
  readonly brandId?: string;
};

/** The first row always exists, because it carries the time of the last scan. */
type Row = { readonly as_of: string | null; readonly few: boolean } & (RadarRow | { readonly item: null });

/**
 * Items as of the last scan that the radar has applied, in one statement: two in sequence take 1.5 times as long. A
 * second follows only if many brands are tracked and few of the newest items are theirs.
 */
export const listTrackedRadar = async (
  db: ReadDatabase,
  { workspaceId, window, types, brandId }: TrackedRadarFilter,
  page: PageRequest,
): Promise<{ readonly page: Page; readonly asOf: string | null }> => {
  const { values, parameter } = createParameters();
  const workspace = parameter(workspaceId);
  const brand = brandId === undefined ? null : parameter(brandId);
  // The smallest id starts the page strictly before `until`.
  const until = 'days' in window ? undefined : window.until;
  const after = page.after ?? (until === undefined ? null : [until, SMALLEST_UUID]);
  const newestFilter = {
    ...RADAR_TABLE,
    since: 'days' in window ? { days: parameter(window.days) } : { time: parameter(window.since) },
    limit: parameter(page.limit + 1),
    kinds: types === undefined ? null : parameter(types),
    after: after === null ? null : ([parameter(after[0]), parameter(after[1])] as const),
  };
  const one = `(select brand_id from tracking.tracked_brand where workspace_id = ${workspace} and brand_id = ${brand}) b`;
  const keys =
    brand === null ? newestOfTrackedBrands(newestFilter, workspace) : newestPerBrand(newestFilter, one);
  const sql = `
    with few as materialized (${brand === null ? tracksFewBrands(workspace) : 'select true as so'})
    select a.as_of, few.so as few, i.item, i.observed_at, i.id
    from (${scannedAtOfTracked(RADAR_TABLE.scans, workspace, brand)}) a cross join few left join (${radarItems(keys)}) i on true
    order by i.observed_at desc, i.id desc`;
  const rows = await db.query<Row>({ sql, values });
  const met = rows.filter((row): row is Row & RadarRow => row.item !== null);
  const found =
    rows[0]?.few === false && met.length <= page.limit
      ? await db.query<RadarRow>({ sql: radarItems(allOfTrackedBrands(newestFilter, workspace)), values })
      : met;
  return { page: radarPage(found, page.limit), asOf: rows[0]?.as_of ?? null };
};
