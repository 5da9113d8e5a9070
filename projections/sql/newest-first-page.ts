import { windowStartSql } from '#contracts/values/windows.ts';

/**
 * Reads each brand's index if few are tracked, else scans the newest rows and filters. If too few of those match,
 * `allOfTrackedBrands` sorts all rows of the brands, which are few then. The caller joins columns other than the keys.
 */
export type NewestFilter = {
  /** Has `brand_id`, `observed_at`, `id` and `kind`, and indexes by brand and time and by time. */
  readonly table: string;
  readonly kind: string;
  readonly scans: string;
  /**
   * True if every row comes from a library scan. Windows of days then omit rows of a scan that is not recorded to its
   * end.
   */
  readonly ofScansOnly: boolean;
  readonly since: Since;
  readonly limit: string;
  readonly kinds: string | null;
  readonly after: readonly [time: string, id: string] | null;
};

export type Since = { readonly time: string } | { readonly days: string };

const FEW_BRANDS = 300;
/** Rows to scan before another plan is used; this takes a few milliseconds. */
const SCAN_ROWS = 5_000;

const NEWEST = 'observed_at desc, id desc';

const isAfter = ({ since, after }: NewestFilter): string =>
  [
    'true',
    ...('time' in since ? [`i.observed_at >= ${since.time}`] : []),
    ...(after === null ? [] : [`(i.observed_at, i.id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`]),
  ].join(' and ');

/** Row `i` is in the window of the brand row `t`, whose last scan is `scanned_at`. */
const inBrandWindow = ({ since, ofScansOnly }: NewestFilter): string => {
  if ('time' in since) return 'true';
  const isInDays = `i.observed_at >= ${windowStartSql('t.scanned_at', `${since.days}::int`)}`;
  return ofScansOnly ? `${isInDays} and i.observed_at <= t.scanned_at` : isInDays;
};

const matchesKind = ({ kind, kinds }: NewestFilter): string =>
  kinds === null ? '' : `and i.${kind} = any(${kinds}::text[])`;

const scannedBrands = ({ since, scans }: NewestFilter, brands: string): string =>
  'time' in since
    ? `(select brand_id from ${brands}) t`
    : `(select brand_id, w.scanned_at from ${brands} join ${scans} w using (brand_id)) t`;

/** Reads brand by brand. `brands` is SQL of rows with `brand_id`. */
export const newestPerBrand = (newestFilter: NewestFilter, brands: string): string => `
  select k.observed_at, k.id from ${scannedBrands(newestFilter, brands)} cross join lateral (
    select observed_at, id from ${newestFilter.table} i
    where i.brand_id = t.brand_id and ${isAfter(newestFilter)} and ${inBrandWindow(newestFilter)}
      ${matchesKind(newestFilter)}
    order by ${NEWEST} limit ${newestFilter.limit}
  ) k order by ${NEWEST} limit ${newestFilter.limit}`;

/** SQL of one row: at most `FEW_BRANDS` brands are tracked. */
export const tracksFewBrands = (workspace: string): string => `
  select count(*) <= ${FEW_BRANDS} as so from (
    select from tracking.tracked_brand where workspace_id = ${workspace} limit ${FEW_BRANDS + 1}
  ) t`;

/** Needs a row of `tracksFewBrands` as `few`. With many brands it may miss matching keys. */
export const newestOfTrackedBrands = (newestFilter: NewestFilter, workspace: string): string => `
  select observed_at, id from (
    (${newestPerBrand(
      newestFilter,
      `(select brand_id from tracking.tracked_brand where workspace_id = ${workspace} and (select so from few) offset 0) b`,
    )})
    union all (
      select i.observed_at, i.id from (
        select observed_at, id, brand_id, ${newestFilter.kind} from ${newestFilter.table} i
        where ${isAfter(newestFilter)} and not (select so from few) order by ${NEWEST} limit ${SCAN_ROWS}
      ) i
      where exists (
        select from ${scannedBrands(
          newestFilter,
          `(select brand_id from tracking.tracked_brand where workspace_id = ${workspace} and brand_id = i.brand_id) b`,
        )} where ${inBrandWindow(newestFilter)} offset 0
      ) ${matchesKind(newestFilter)}
      order by ${NEWEST} limit ${newestFilter.limit}
    )
  ) k order by ${NEWEST} limit ${newestFilter.limit}`;

/** Sorts all matching keys. `offset 0` keeps the planner from scanning along the newest rows. */
export const allOfTrackedBrands = (newestFilter: NewestFilter, workspace: string): string => `
  select observed_at, id from (
    select i.observed_at, i.id from ${scannedBrands(
      newestFilter,
      `(select brand_id from tracking.tracked_brand where workspace_id = ${workspace}) b`,
    )} cross join lateral (
      select observed_at, id from ${newestFilter.table} i
      where i.brand_id = t.brand_id and ${isAfter(newestFilter)} and ${inBrandWindow(newestFilter)}
        ${matchesKind(newestFilter)} offset 0
    ) i offset 0
  ) k order by ${NEWEST} limit ${newestFilter.limit}`;
