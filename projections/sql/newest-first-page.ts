import { isoTimeSql } from '#contracts/values/time.ts';
import { utcDateSql } from '#contracts/values/windows.ts';
import { type Fragment, raw, sql } from './sql-tag.ts';

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
