import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { isoTimeSql } from '#contracts/values/time.ts';
import { utcDateSql } from '#contracts/values/windows.ts';
import { type Fragment, raw, sql } from './sql-tag.ts';

/** Sort key of the previous page's last row (keyset pagination). */

export type Cursor = readonly (string | number)[];

export const SMALLEST_UUID = '00000000-0000-0000-0000-000000000000';
export const LARGEST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
export const LARGEST_BIGINT = '9223372036854775807';
/** Sorts after the times, dates, ids and slugs of sort keys. */
export const LARGEST_TEXT = '~';

/** Start cursor of a list by time and id, so the first page needs no special case. */
export const BEFORE_NEWEST = [LARGEST_TEXT, LARGEST_UUID] as const;

export type RowPage<Row, C extends Cursor = Cursor> = {
  readonly rows: readonly Row[];
  readonly next: C | null;
};

export const cutPage = <Row, C extends Cursor>(
  found: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => C,
): RowPage<Row, C> => {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, next: found.length > limit && last !== undefined ? cursorOf(last) : null };
};

export type ItemsOfRows<Row> = {
  /** `null` leaves the row out of its page. */
  readonly toItem: (row: Row) => string | null;
  readonly cursorOf: (last: Row) => Cursor;
};

export const pageOfRows = <Row>(
  found: readonly Row[],
  limit: number,
  { toItem, cursorOf }: ItemsOfRows<Row>,
): Page => {
  const { rows, next } = cutPage(found, limit, cursorOf);
  return { items: rows.map(toItem).filter((item) => item !== null), next };
};

/** `asOf` has an entry for each row of the page, also for those without an item. */
export type DatedPage<AsOf = string | null> = Page & { readonly asOf: readonly AsOf[] };

export const datedPageOfRows = <Row extends { readonly item: string | null; readonly as_of: string | null }>(
  found: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => Cursor,
): DatedPage<Row['as_of']> => ({
  ...pageOfRows(found, limit, { toItem: ({ item }) => item, cursorOf }),
  asOf: found.slice(0, limit).map((row) => row.as_of),
});

/**
 * Reads each brand's index if few are tracked, else scans the newest rows and filters. If too few of those match,
 * `allOfTrackedBrands` sorts all rows of the brands, which are few then. The caller joins columns other than the keys.
 */
export type NewestFilter = {
  /** Has `brand_id`, `observed_at`, `id` and `kind`, and indexes by brand and time and by time. */
  readonly table: Fragment;
  readonly kind: Fragment;
  readonly scans: Fragment;
  /**
   * True if every row comes from a library scan. Windows of days then omit rows of a scan that is not recorded to its
   * end.
   */
  readonly ofScansOnly: boolean;
  /** The last days up to each brand's last scan, or rows from a time on (ISO timestamp). */
  readonly window: { readonly days: number } | { readonly since: string };
  readonly limit: number;
  readonly kinds: readonly string[] | undefined;
  /** Time and id of the row before the page. */
  readonly after: readonly (string | number)[] | null;
};

const FEW_BRANDS = raw('300');
/** Rows to scan before another plan is used; this takes a few milliseconds. */
const SCAN_ROWS = raw('5000');

const LAST_SCAN_DAY = raw(utcDateSql('t.scanned_at'));
const NEWEST = sql.fragment`observed_at desc, id desc`;

const isAfter = ({ window, after }: NewestFilter): Fragment =>
  sql.and([
    'since' in window && sql.fragment`i.observed_at >= ${window.since}`,
    after && sql.fragment`(i.observed_at, i.id) < (${sql.list(after)})`,
  ]);

/** Row `i` is in the window of the brand row `t`, whose last scan is `scanned_at`. */
const inBrandWindow = ({ window, ofScansOnly }: NewestFilter): Fragment =>
  sql.and([
    'days' in window &&
      sql.fragment`i.observed_at >=
        ((${LAST_SCAN_DAY} - ${window.days}::int + 1)::timestamp at time zone 'utc')`,
    'days' in window && ofScansOnly && sql.fragment`i.observed_at <= t.scanned_at`,
  ]);

const matchesKind = ({ kind, kinds }: NewestFilter): Fragment =>
  kinds === undefined ? raw('true') : sql.fragment`i.${kind} = any(${sql.array(kinds, 'text')})`;

const scannedBrands = ({ window, scans }: NewestFilter, brands: Fragment): Fragment =>
  'since' in window
    ? sql.fragment`(select brand_id from ${brands}) t`
    : sql.fragment`(select brand_id, w.scanned_at from ${brands} join ${scans} w using (brand_id)) t`;

/** Reads brand by brand. `brands` is SQL of rows with `brand_id`. */
export const newestPerBrand = (filter: NewestFilter, brands: Fragment): Fragment => sql.fragment`
  select k.observed_at, k.id from ${scannedBrands(filter, brands)} cross join lateral (
    select observed_at, id from ${filter.table} i
    where i.brand_id = t.brand_id and ${isAfter(filter)} and ${inBrandWindow(filter)} and ${matchesKind(filter)}
    order by ${NEWEST} limit ${filter.limit}
  ) k order by ${NEWEST} limit ${filter.limit}`;

/** SQL of one row: at most `FEW_BRANDS` brands are tracked. */
export const tracksFewBrands = (workspaceId: string): Fragment => sql.fragment`
  select count(*) <= ${FEW_BRANDS} as so from (
    select from tracking.tracked_brand where workspace_id = ${workspaceId} limit ${FEW_BRANDS} + 1
  ) t`;

/** Needs a row of `tracksFewBrands` as `few`. With many brands it may miss matching keys. */
export const newestOfTrackedBrands = (filter: NewestFilter, workspaceId: string): Fragment => {
  const perBrand = newestPerBrand(
    filter,
    sql.fragment`(select brand_id from tracking.tracked_brand
      where workspace_id = ${workspaceId} and (select so from few) offset 0) b`,
  );
  const brandOfRow = scannedBrands(
    filter,
    sql.fragment`(select brand_id from tracking.tracked_brand
      where workspace_id = ${workspaceId} and brand_id = i.brand_id) b`,
  );
  return sql.fragment`
    select observed_at, id from (
      (${perBrand})
      union all (
        select i.observed_at, i.id from (
          select observed_at, id, brand_id, ${filter.kind} from ${filter.table} i
          where ${isAfter(filter)} and not (select so from few) order by ${NEWEST} limit ${SCAN_ROWS}
        ) i
        where exists (select from ${brandOfRow} where ${inBrandWindow(filter)} offset 0) and ${matchesKind(filter)}
        order by ${NEWEST} limit ${filter.limit}
      )
    ) k order by ${NEWEST} limit ${filter.limit}`;
};

/** Sorts all matching keys. `offset 0` keeps the planner from scanning along the newest rows. */
export const allOfTrackedBrands = (filter: NewestFilter, workspaceId: string): Fragment => {
  const brands = sql.fragment`(select brand_id from tracking.tracked_brand where workspace_id = ${workspaceId}) b`;
  return sql.fragment`
    select observed_at, id from (
      select i.observed_at, i.id from ${scannedBrands(filter, brands)} cross join lateral (
        select observed_at, id from ${filter.table} i
        where i.brand_id = t.brand_id and ${isAfter(filter)} and ${inBrandWindow(filter)} and ${matchesKind(filter)}
        offset 0
      ) i offset 0
    ) k order by ${NEWEST} limit ${filter.limit}`;
};

/**
 * Last scan of a workspace's tracked brands, or of one, that the read model has applied; else the corpus' newest.
 * `scans` is its table `applied_scan`; needs `tracksFewBrands` as `few`. With many brands it asks freshness for the
 * last scanned one, and looks up all only if the read model is behind that scan.
 */
export const scannedAtOfTracked = (scans: Fragment, workspaceId: string, brandId?: string): Fragment => {
  const tracked = sql.and([
    sql.fragment`t.workspace_id = ${workspaceId}`,
    brandId !== undefined && sql.fragment`t.brand_id = ${brandId}`,
  ]);
  return sql.fragment`
    select ${raw(isoTimeSql('newest.at'))} as as_of from (select coalesce(
      (select w.scanned_at from (
        select brand_id, scanned_at from freshness.tracker
        where workspace_id = ${workspaceId} and scanned_at is not null and not (select so from few)
        order by scanned_at desc limit 1
      ) k join ${scans} w using (brand_id) where w.scanned_at >= k.scanned_at),
      (select max(w.scanned_at) from tracking.tracked_brand t join ${scans} w using (brand_id) where ${tracked}),
      (select max(w.scanned_at) from ${scans} w)) as at) newest`;
};

/**
 * Reads lists whose conditions and order share no index. The planner must guess whether matches are frequent, and a
 * wrong guess takes seconds. So a short scan runs first, then the shortest longer scan expected to fill the page; if
 * none is, all matches are searched and sorted.
 */

/** Rows per scan: 1 to 2 ms for the short one, 10 ms for the longest. */
const SHORT_SCAN_ROWS = 500;
const LONGER_SCANS_ROWS: readonly number[] = [1_500, 5_000];
/** A longer scan must be expected to find this many pages, because one without success costs as much as the search. */
const EXPECTED_PAGES = 2;

export type AdaptiveList = {
  /** Reads rows `s` in the order of an index. */
  readonly scan: { readonly columns: Fragment; readonly from: Fragment; readonly order: Fragment };
  /** Table of the conditions; `key` is common to it and the scan. */
  readonly filterTable: { readonly from: Fragment; readonly key: Fragment };
  /** Columns of shown rows `s`, joined by the key. `key` is the text of `place` and never null. */
  readonly show: { readonly columns: Fragment; readonly joins: Fragment };
  readonly order: Fragment;
};

export type AdaptiveFilter = {
  /** Conditions that the index of the scan serves, such as the cursor. */
  readonly where: Fragment;
  /** Without conditions every row of the scan is shown. */
  readonly conditions: readonly Fragment[];
  /** Overrides `EXPECTED_PAGES`; lower for wide rows of which far more match than a scan meets. */
  readonly expectedPages?: number;
};

export const readAdaptivePage = async <Row extends { readonly key: string }>(
  db: ReadDatabase,
  { scan, filterTable: { from, key }, show, order }: AdaptiveList,
  { where, conditions, expectedPages = EXPECTED_PAGES }: AdaptiveFilter,
  { limit }: PageRequest,
): Promise<readonly Row[]> => {
  const ordered = sql.fragment`select ${scan.columns} from ${scan.from} where ${where} order by ${scan.order}`;
  const shown = (rows: Fragment) => sql.fragment`
    select ${show.columns} from (${rows} limit ${limit + 1}) s ${show.joins} order by ${order} limit ${limit + 1}`;
  if (conditions.length === 0) return db.query<Row>(shown(ordered));
  const matching = sql.fragment`select ${key} from ${from} where ${sql.and(conditions)}`;
  for (let rows: number = SHORT_SCAN_ROWS; ; ) {
    // `offset 0` keeps this a lookup by key for each scanned row; the planner may otherwise search all matches first.
    const scanned = await db.query<Row & { readonly scanned_rows: number }>(sql.unsafe`
      with scanned as materialized (${ordered} limit ${raw(`${rows}`)}), shown as materialized (
        ${shown(sql.fragment`
          select * from scanned s where exists (${matching} and ${key} = s.${key} offset 0) order by ${order}`)}
      )
      select shown.*, w.rows as scanned_rows
      from (select count(*)::int as rows from scanned) w left join shown on true`);
    // A scan without a match returns one row with the scan's length only.
    const found = scanned.filter((row) => (row.key as string | null) !== null);
    if (found.length > limit || (scanned[0]?.scanned_rows ?? 0) < rows) return found;
    const longer = LONGER_SCANS_ROWS.find(
      (most) => most > rows && (found.length * most) / rows > limit * expectedPages,
    );
    if (longer === undefined) break;
    rows = longer;
  }
  // Looks up the matches by key alone, all at once: sorted keys share index pages. With other conditions in the query,
  // the planner would test each scanned row against all keys.
  return db.slow<Row>(sql.unsafe`
    with found as materialized (
      select ${scan.columns} from (
        select s.* from ${scan.from} where s.${key} = any(array(${matching})) offset 0
      ) s where ${where}
    )
    ${shown(sql.fragment`select * from found s order by ${order}`)}`);
};
