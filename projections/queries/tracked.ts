import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { isoTimeMicrosSql, isoTimeSql } from '#contracts/values/time.ts';
import type { SignalKind } from '#contracts/values/signals.ts';
import {
  BEFORE_NEWEST,
  type DatedPage,
  type NewestFilter,
  SMALLEST_UUID,
  allOfTrackedBrands,
  datedPageOfRows,
  newestOfTrackedBrands,
  newestPerBrand,
  pageOfRows,
  scannedAtOfTracked,
  tracksFewBrands,
} from '../sql/pages.ts';
import {
  RADAR_TABLE,
  type RadarRow,
  SIGNAL_COLUMNS,
  type SignalRow,
  freshnessText,
  radarItems,
  radarPage,
  signalText,
} from '../sql/json.ts';
import { type Fragment, raw, sql } from '../sql/sql-tag.ts';
import { BRAND_REFERENCE_SQL } from '../shared-tables/brand-reference.ts';

/**
 * Reads tracking, summaries and freshness in one statement. Each brand is as of the older of the latter two; brands
 * without a projected profile are omitted.
 */
const PAGE = `
  select k.tracked_at, k.brand_id, '{"brand":' || b.summary || ',"cadence":"' || k.cadence || '","created_at":"'
    || k.tracked_at || '","freshness":' || ${freshnessText('k.cadence')} || '}' as item,
    ${isoTimeSql('least(b.as_of, coalesce(f.applied_at, b.profiled_at))')} as as_of
  from (
    select brand_id, cadence, tracked_at from tracking.tracked_brand
    where workspace_id = $1 and (tracked_at, brand_id) < ($2, $3::uuid)
    order by tracked_at desc, brand_id desc limit $4
  ) k
  left join brands.brand b using (brand_id)
  left join freshness.brand f using (brand_id)
  order by k.tracked_at desc, k.brand_id desc`;

type TrackedRow = {
  readonly tracked_at: string;
  readonly brand_id: string;
  readonly item: string | null;
  readonly as_of: string | null;
};

export const listTrackedBrands = async (
  db: ReadDatabase,
  workspaceId: string,
  page: PageRequest,
): Promise<DatedPage> => {
  const values = [workspaceId, ...(page.after ?? BEFORE_NEWEST), page.limit + 1];
  const found = await db.query<TrackedRow>({ sql: PAGE, values });
  return datedPageOfRows(found, page.limit, (last) => [last.tracked_at, last.brand_id]);
};

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
type TrackedRadarRow = { readonly as_of: string | null; readonly few: boolean } & (
  | RadarRow
  | { readonly item: null }
);

/** The smallest id starts the first page strictly before `until`. */
const startOf = (window: TrackedWindow, { after }: PageRequest): NewestFilter['after'] =>
  after ?? ('until' in window && window.until !== undefined ? [window.until, SMALLEST_UUID] : null);

/** Keys of the newest rows of tracked brands, or of one, and the row `few` that they need. */
const newestTracked = (
  filter: NewestFilter,
  workspaceId: string,
  brandId: string | undefined,
): { readonly keys: Fragment; readonly few: Fragment } => {
  if (brandId === undefined)
    return { keys: newestOfTrackedBrands(filter, workspaceId), few: tracksFewBrands(workspaceId) };
  const brand = sql.fragment`(select brand_id from tracking.tracked_brand
    where workspace_id = ${workspaceId} and brand_id = ${brandId}) b`;
  return { keys: newestPerBrand(filter, brand), few: sql.fragment`select true as so` };
};

/**
 * Items as of the last scan that the radar has applied, in one statement: two in sequence take 1.5 times as long. A
 * second follows only if many brands are tracked and few of the newest items are theirs.
 */
export const listTrackedRadar = async (
  db: ReadDatabase,
  { workspaceId, window, types, brandId }: TrackedRadarFilter,
  page: PageRequest,
): Promise<{ readonly page: Page; readonly asOf: string | null }> => {
  const newestFilter = {
    ...RADAR_TABLE,
    window,
    limit: page.limit + 1,
    kinds: types,
    after: startOf(window, page),
  };
  const { keys, few } = newestTracked(newestFilter, workspaceId, brandId);
  const rows = await db.query<TrackedRadarRow>(sql.unsafe`
    with few as materialized (${few})
    select a.as_of, few.so as few, i.item, i.observed_at, i.id
    from (${scannedAtOfTracked(RADAR_TABLE.scans, workspaceId, brandId)}) a cross join few
    left join (${radarItems(keys)}) i on true
    order by i.observed_at desc, i.id desc`);
  const met = rows.filter((row): row is TrackedRadarRow & RadarRow => row.item !== null);
  const found =
    rows[0]?.few === false && met.length <= page.limit
      ? await db.query<RadarRow>(radarItems(allOfTrackedBrands(newestFilter, workspaceId)))
      : met;
  return { page: radarPage(found, page.limit), asOf: rows[0]?.as_of ?? null };
};

/** The brand of a radar item; `null` for an item of which the workspace does not track the brand. */
export const findBrandOfTrackedItem = async (
  db: ReadDatabase,
  workspaceId: string,
  itemId: string,
): Promise<string | null> => {
  const rows = await db.query<{ brand_id: string }>({
    sql: `select brand_id from radar.item join tracking.tracked_brand using (brand_id)
      where id = $1 and workspace_id = $2`,
    values: [itemId, workspaceId],
  });
  return rows[0]?.brand_id ?? null;
};

/**
 * Other brands that now have an ad of which the brand's radar shows something: a late scan may add that to the stream of
 * the ad's brand, and name the brand of the time.
 */
export const readBrandsOfItems = async (db: ReadDatabase, brandId: string): Promise<readonly string[]> => {
  const rows = await db.query<{ brand_id: string }>({
    sql: `select distinct a.brand_id from radar.item i join ads.ad a using (ad_id)
      where i.brand_id = $1 and a.brand_id <> i.brand_id`,
    values: [brandId],
  });
  return rows.map(({ brand_id }) => brand_id);
};

const SIGNAL_TABLE = {
  table: sql.fragment`signals.signal`,
  kind: sql.fragment`kind`,
  scans: sql.fragment`signals.applied_scan`,
  // Shops and page links are observed apart from library scans, so a signal may be newer.
  ofScansOnly: false,
} as const;

export type TrackedSignalsFilter = {
  readonly workspaceId: string;
  readonly window: TrackedWindow;
  readonly kinds?: readonly SignalKind[];
  readonly brandId?: string;
};

type Shown = SignalRow & { readonly brand: string; readonly sorted_by: string };
/** The first row always exists, because it carries the time of the last scan. */
type TrackedSignalRow = { readonly as_of: string | null; readonly few: boolean } & (
  | Shown
  | { readonly id: null }
);

/** Compares as text, because both times have the same format. */
const latest = (one: string | null, other: string | null): string | null =>
  one !== null && other !== null && other > one ? other : (one ?? other);

const COLUMNS = raw(`${SIGNAL_COLUMNS}, ${isoTimeSql('s.observed_at')} as observed_at,
  ${BRAND_REFERENCE_SQL} as brand, ${isoTimeMicrosSql('s.observed_at')} as sorted_by`);

const shownSignals = (keys: Fragment) => sql.fragment`
  select ${COLUMNS}
  from (${keys}) k join signals.signal s using (id) join signals.brand b on b.brand_id = s.brand_id
  order by k.observed_at desc, k.id desc`;

/** Newest first, as of the last scan or a later signal. Reads in the same way as `listTrackedRadar`. */
export const listTrackedSignals = async (
  db: ReadDatabase,
  { workspaceId, window, kinds, brandId }: TrackedSignalsFilter,
  page: PageRequest,
): Promise<{ readonly page: Page; readonly asOf: string | null }> => {
  const newestFilter = {
    ...SIGNAL_TABLE,
    window,
    kinds,
    limit: page.limit + 1,
    after: startOf(window, page),
  };
  const { keys, few } = newestTracked(newestFilter, workspaceId, brandId);
  const rows = await db.query<TrackedSignalRow>(sql.unsafe`
    with few as materialized (${few})
    select a.as_of, few.so as few, s.*
    from (${scannedAtOfTracked(SIGNAL_TABLE.scans, workspaceId, brandId)}) a cross join few
    left join (${shownSignals(keys)}) s on true
    order by s.sorted_by desc, s.id desc`);
  const met = rows.filter((row): row is TrackedSignalRow & Shown => row.id !== null);
  const found =
    rows[0]?.few === false && met.length <= page.limit
      ? await db.query<Shown>(shownSignals(allOfTrackedBrands(newestFilter, workspaceId)))
      : met;
  return {
    page: pageOfRows(found, page.limit, {
      toItem: (row) => signalText(row, row.brand, workspaceId),
      cursorOf: (last) => [last.sorted_by, last.id],
    }),
    asOf: latest(rows[0]?.as_of ?? null, found[0]?.observed_at ?? null),
  };
};
