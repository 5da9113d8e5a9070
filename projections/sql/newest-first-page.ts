/**
 * SQL of the newest keys, `observed_at` and `id`, among what was observed at some brands: the indexes alone find them,
 * and only what a page shows is then looked up. Of few brands each is asked for its newest. Of thousands that takes
 * longer than to walk along what is newest at all and to keep what is theirs; and where too little on that walk is,
 * little is theirs, so that all of it can be sorted.
 */
export type Narrowed = {
  /** `brand_id`, `observed_at`, `id` and the column `kind`, with indexes by brand and time, and by time. */
  readonly table: string;
  readonly kind: string;
  /** The rest are places of parameters. */
  readonly since: string;
  readonly limit: string;
  readonly kinds: string | null;
  readonly after: readonly [time: string, id: string] | null;
};

/** So many brands are asked one by one. */
const FEW_BRANDS = 300;
/** Rows that the walk looks at: a few milliseconds. */
const WALK_ROWS = 5_000;

const NEWEST = 'observed_at desc, id desc';

const inWindow = ({ since, after }: Narrowed): string =>
  [
    `i.observed_at >= ${since}`,
    ...(after === null ? [] : [`(i.observed_at, i.id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`]),
  ].join(' and ');

const ofKinds = ({ kind, kinds }: Narrowed): string =>
  kinds === null ? '' : `and i.${kind} = any(${kinds}::text[])`;

/** `brands`: SQL of a row `t` with `brand_id` for each brand. */
export const newestOfEach = (narrowed: Narrowed, brands: string): string => `
  select k.observed_at, k.id from ${brands} cross join lateral (
    select observed_at, id from ${narrowed.table} i
    where i.brand_id = t.brand_id and ${inWindow(narrowed)} ${ofKinds(narrowed)}
    order by ${NEWEST} limit ${narrowed.limit}
  ) k order by ${NEWEST} limit ${narrowed.limit}`;

/** Whether a workspace tracks few brands. */
export const tracksFew = (workspace: string): string => `
  select count(*) <= ${FEW_BRANDS} as so from (
    select from tracking.tracked_brand where workspace_id = ${workspace} limit ${FEW_BRANDS + 1}
  ) t`;

/** Beside a row of `tracksFew` named `few`. Of many brands there may be more than this meets. */
export const newestOfTracked = (narrowed: Narrowed, workspace: string): string => `
  select observed_at, id from (
    (${newestOfEach(
      narrowed,
      `(select brand_id from tracking.tracked_brand where workspace_id = ${workspace} and (select so from few) offset 0) t`,
    )})
    union all (
      select i.observed_at, i.id from (
        select observed_at, id, brand_id, ${narrowed.kind} from ${narrowed.table} i
        where ${inWindow(narrowed)} and not (select so from few) order by ${NEWEST} limit ${WALK_ROWS}
      ) i
      where exists (
        select from tracking.tracked_brand k where k.workspace_id = ${workspace} and k.brand_id = i.brand_id offset 0
      ) ${ofKinds(narrowed)}
      order by ${NEWEST} limit ${narrowed.limit}
    )
  ) k order by ${NEWEST} limit ${narrowed.limit}`;

/** All of them, sorted. `offset 0` keeps a planner from walking along what is newest after all. */
export const everyOfTracked = (narrowed: Narrowed, workspace: string): string => `
  select observed_at, id from (
    select observed_at, id from ${narrowed.table} i
    where i.brand_id = any(array(select brand_id from tracking.tracked_brand where workspace_id = ${workspace}))
      and ${inWindow(narrowed)} ${ofKinds(narrowed)} offset 0
  ) k order by ${NEWEST} limit ${narrowed.limit}`;
