import type { Page, PageRequest, ReadDatabase } from '#contracts/read-database.ts';
import { newestItems, parameters, radarPage, type RadarRow } from './radar-items.ts';

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
type Row = { readonly as_of: string | null } & (RadarRow | { readonly item: null });

/**
 * The radar of a workspace's tracked brands by one statement over three projections, as of the last scan of any of
 * them: two statements, one after the other, take half as long again.
 */
export const listTrackedRadar = async (
  db: ReadDatabase,
  { workspaceId, since, until, types, brandId }: TrackedRadarFilter,
  page: PageRequest,
): Promise<{ readonly page: Page; readonly asOf: string | null }> => {
  const { values, given } = parameters();
  const workspace = given(workspaceId);
  const narrowed = brandId === undefined ? '' : `and brand_id = ${given(brandId)}`;
  const after = page.after ?? (until === undefined ? null : [until, BEFORE_EVERY_ID]);
  const items = newestItems({
    brands: `(select brand_id from tracking.tracked_brand where workspace_id = ${workspace} ${narrowed} offset 0) t`,
    since: given(since),
    limit: given(page.limit + 1),
    types: types === undefined ? null : given(types),
    after: after === null ? null : [given(after[0]), given(after[1])],
  });
  const sql = `
    select a.as_of, i.item, i.observed_at, i.id
    from (
      select to_char(max(f.scanned_at) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as as_of
      from tracking.tracked_brand k join freshness.brand f using (brand_id) where k.workspace_id = ${workspace} ${narrowed}
    ) a left join (${items}) i on true order by i.observed_at desc, i.id desc`;
  const rows = await db.query<Row>({ sql, values });
  const found = rows.filter((row): row is Row & RadarRow => row.item !== null);
  return { page: radarPage(found, page.limit), asOf: rows[0]?.as_of ?? null };
};
