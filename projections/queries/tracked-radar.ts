import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { everyOfTracked, newestOfEach, newestOfTracked, tracksFew } from '../sql/newest-first-page.ts';
import { parameters, RADAR_TABLE, radarItems, radarPage, type RadarRow } from '../sql/radar-json.ts';
import { scannedAtOfTracked } from '../sql/tracked-as-of.ts';

export type TrackedRadarFilter = {
  readonly workspaceId: string;
  /** ISO timestamp: items observed from here on. */
  readonly since: string;
  /** ISO timestamp: items observed before it. */
  readonly until?: string;
  readonly types?: readonly string[];
  /** One of the tracked brands. */
  readonly brandId?: string;
};

/** Sorts before every id, so that a page starts at a time and not after it. */
const BEFORE_EVERY_ID = '00000000-0000-0000-0000-000000000000';

/** One row at least: when any of the brands was last scanned, also when that scan showed no change. */
type Row = { readonly as_of: string | null; readonly few: boolean } & (RadarRow | { readonly item: null });

/**
 * The radar of a workspace's tracked brands by one statement over three projections, as of the last scan of any of
 * them: two statements, one after the other, take half as long again. Only where much is tracked, and little of what
 * is newest is theirs, another follows.
 */
export const listTrackedRadar = async (
  db: ReadDatabase,
  { workspaceId, since, until, types, brandId }: TrackedRadarFilter,
  page: PageRequest,
): Promise<{ readonly page: Page; readonly asOf: string | null }> => {
  const { values, given } = parameters();
  const workspace = given(workspaceId);
  const brand = brandId === undefined ? null : given(brandId);
  const after = page.after ?? (until === undefined ? null : [until, BEFORE_EVERY_ID]);
  const narrowed = {
    ...RADAR_TABLE,
    since: given(since),
    limit: given(page.limit + 1),
    kinds: types === undefined ? null : given(types),
    after: after === null ? null : ([given(after[0]), given(after[1])] as const),
  };
  const one = `(select brand_id from tracking.tracked_brand where workspace_id = ${workspace} and brand_id = ${brand}) t`;
  const keys = brand === null ? newestOfTracked(narrowed, workspace) : newestOfEach(narrowed, one);
  const sql = `
    with few as materialized (${brand === null ? tracksFew(workspace) : 'select true as so'})
    select a.as_of, few.so as few, i.item, i.observed_at, i.id
    from (${scannedAtOfTracked(workspace, brand)}) a cross join few left join (${radarItems(keys)}) i on true
    order by i.observed_at desc, i.id desc`;
  const rows = await db.query<Row>({ sql, values });
  const met = rows.filter((row): row is Row & RadarRow => row.item !== null);
  const found =
    rows[0]?.few === false && met.length <= page.limit
      ? await db.query<RadarRow>({ sql: radarItems(everyOfTracked(narrowed, workspace)), values })
      : met;
  return { page: radarPage(found, page.limit), asOf: rows[0]?.as_of ?? null };
};
