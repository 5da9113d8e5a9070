/**
 * SQL of a newest-first page over the tracked brands. With few brands it reads each brand's index; with many
 * it scans the newest rows and filters. If too few of the scanned rows match, `allOfTrackedBrands` sorts all rows
 * of the tracked brands, which are few then. Only the keys `observed_at` and `id` are selected here; the
 * caller joins the rest for the rows of the page.
 */
export type NewestFilter = {
  /**
   * A table with `brand_id`, `observed_at`, `id` and the column `kind`, and with indexes by brand and time
   * and by time.
   */
  readonly table: string;
  readonly kind: string;
  /** The following fields are parameter placeholders, such as `$1`. */
  readonly since: string;
  readonly limit: string;
  readonly kinds: string | null;
  readonly after: readonly [time: string, id: string] | null;
};

/** Maximum brands that are read one by one. */
const FEW_BRANDS = 300;
/** Rows per scan of the newest: a few milliseconds. */
const SCAN_ROWS = 5_000;

const NEWEST = 'observed_at desc, id desc';

const inWindow = ({ since, after }: NewestFilter): string =>
  [
    `i.observed_at >= ${since}`,
    ...(after === null ? [] : [`(i.observed_at, i.id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`]),
  ].join(' and ');

const matchesKind = ({ kind, kinds }: NewestFilter): string =>
  kinds === null ? '' : `and i.${kind} = any(${kinds}::text[])`;

/** Returns SQL of the newest keys, read brand by brand. `brands` is SQL of rows `t` with `brand_id`. */
export const newestPerBrand = (newestFilter: NewestFilter, brands: string): string => `
  select k.observed_at, k.id from ${brands} cross join lateral (
    select observed_at, id from ${newestFilter.table} i
    where i.brand_id = t.brand_id and ${inWindow(newestFilter)} ${matchesKind(newestFilter)}
    order by ${NEWEST} limit ${newestFilter.limit}
  ) k order by ${NEWEST} limit ${newestFilter.limit}`;

/** Returns SQL of one row: whether a workspace tracks at most `FEW_BRANDS` brands. */
export const tracksFewBrands = (workspace: string): string => `
  select count(*) <= ${FEW_BRANDS} as so from (
    select from tracking.tracked_brand where workspace_id = ${workspace} limit ${FEW_BRANDS + 1}
  ) t`;

/**
 * Returns SQL of the newest keys; needs a row of `tracksFewBrands` as `few`. With many brands it may miss matching
 * keys.
 */
export const newestOfTrackedBrands = (newestFilter: NewestFilter, workspace: string): string => `
  select observed_at, id from (
    (${newestPerBrand(
      newestFilter,
      `(select brand_id from tracking.tracked_brand where workspace_id = ${workspace} and (select so from few) offset 0) t`,
    )})
    union all (
      select i.observed_at, i.id from (
        select observed_at, id, brand_id, ${newestFilter.kind} from ${newestFilter.table} i
        where ${inWindow(newestFilter)} and not (select so from few) order by ${NEWEST} limit ${SCAN_ROWS}
      ) i
      where exists (
        select from tracking.tracked_brand k where k.workspace_id = ${workspace} and k.brand_id = i.brand_id offset 0
      ) ${matchesKind(newestFilter)}
      order by ${NEWEST} limit ${newestFilter.limit}
    )
  ) k order by ${NEWEST} limit ${newestFilter.limit}`;

/**
 * Returns SQL of all matching keys, sorted. `offset 0` keeps the planner from scanning along the newest rows.
 */
export const allOfTrackedBrands = (newestFilter: NewestFilter, workspace: string): string => `
  select observed_at, id from (
    select observed_at, id from ${newestFilter.table} i
    where i.brand_id = any(array(select brand_id from tracking.tracked_brand where workspace_id = ${workspace}))
      and ${inWindow(newestFilter)} ${matchesKind(newestFilter)} offset 0
  ) k order by ${NEWEST} limit ${newestFilter.limit}`;
