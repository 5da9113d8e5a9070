import { categoryNameSql } from '../shared-tables/category-naming.ts';
import { inWindowSql, utcDateSql, WINDOW_DAYS } from '#contracts/values/windows.ts';

/** SQL of `brand_id, key, figure` for the invariants. */

export const replay = (...names: readonly string[]): string =>
  `Run ${names.map((name) => `\`ops projections verify ${name}\``).join(' and ')}. A read model that differs from a replay is repaired by \`projections rebuild\`; otherwise the recorded events disagree.`;

/** Compares SQL of `brand_id, key, figure`; an absent figure is 0. */
export const equal = (one: string, other: string): string => `
  select brand_id, key, coalesce(a.figure, 0) as one, coalesce(b.figure, 0) as other
  from (${one}) a full join (${other}) b using (brand_id, key)
  where coalesce(a.figure, 0) <> coalesce(b.figure, 0)`;

export const ofBrand = (figure: string): string =>
  `select brand_id, '' as key, ${figure} as figure from brands.brand`;

export const countOf = (table: string, condition = 'true'): string =>
  `select brand_id, '' as key, count(*) as figure from ${table} where ${condition} group by brand_id`;

/**
 * Null for an unregistered brand. The record cannot be parsed because it holds a placeholder; in strings quotes are escaped,
 * so only the field matches.
 */
export const inRecord = (field: string): string => `substring(detail from '"${field}":([0-9]+)')::bigint`;

/** Omits withdrawn items, because corrections have changed the counts of days. */
export const itemsOfDay = (type: string): string => `
  select brand_id, ${utcDateSql('observed_at')}::text as key, count(*) as figure
  from radar.item where type = '${type}' and not is_withdrawn group by 1, 2`;

export const itemsOfWindow = (type: string, days: number): string => `
  select i.brand_id, '' as key, count(*) as figure
  from radar.item i join radar.applied_scan w using (brand_id)
  join brands.brand b on b.brand_id = i.brand_id and b.detail is not null
  where i.type = '${type}' and not i.is_withdrawn and ${inWindowSql(utcDateSql('i.observed_at'), 'w.scanned_at', days)}
    and i.observed_at <= w.scanned_at
  group by i.brand_id`;

export const WINDOW_COUNTS = [
  ['new_ads_7d', 'ad_started', WINDOW_DAYS.week],
  ['new_ads_30d', 'ad_started', WINDOW_DAYS.month],
  ['retired_ads_7d', 'ad_stopped', WINDOW_DAYS.week],
  ['retired_ads_30d', 'ad_stopped', WINDOW_DAYS.month],
] as const;

/** Figures of a week in `velocity` and in the days of `daily-activity`. */
const WEEK_FIGURES = ['active_ads', 'new_ads', 'retired_ads', 'reliable_days'] as const;
export const WEEKS = `
  select w.brand_id, w.week_start || ' ' || f.name as key, (w.item::json ->> f.name)::bigint as figure
  from velocity.week w, unnest(array['${WEEK_FIGURES.join("','")}']) f(name)`;
export const WEEKS_OF_DAYS = `
  select brand_id, week_start || ' ' || f.name as key, f.figure from (
    select brand_id, date_trunc('week', date)::date as week_start,
      (array_agg(active_ads order by date desc))[1] as active_ads,
      coalesce(sum(new_ads) filter (where reliable), 0) as new_ads,
      coalesce(sum(retired_ads) filter (where reliable), 0) as retired_ads,
      count(*) filter (where reliable) as reliable_days
    from daily_activity.day group by 1, 2
  ) w cross join lateral (values ${WEEK_FIGURES.map((name) => `('${name}', w.${name})`).join()}) f(name, figure)`;

/**
 * Brands that an ad left by a scan of the same time with a greater id, which comes after their own (rule 11). If it
 * registers its brand, ads move without a look at the brand they leave (rule 10).
 */
const LEFT_BY_LATER_SCAN = `
  select f.brand_id, h.at from ads.history h
  cross join lateral (select (h.detail ->> 'from_brand_id')::uuid as brand_id) f
  join daily_activity.scan later on later.brand_id = (h.detail ->> 'to_brand_id')::uuid
    and later.date = ${utcDateSql('h.at')} and later.observed_at = h.at
  where h.change = 'attributed' and not exists (
    select from daily_activity.scan own where own.brand_id = f.brand_id and own.date = later.date
      and own.observed_at = h.at and own.scan_id >= later.scan_id and not own.out_of_order)`;

/** True if no ad came to the brand or left it after its last scan. */
const unmoved = (brandId: string): string => `not exists (
  select from daily_activity.last_move m left join lateral (
    select s.observed_at as at, s.scan_id from daily_activity.scan s
    where s.brand_id = m.brand_id and not s.out_of_order order by s.observed_at desc, s.scan_id desc limit 1
  ) latest on true
  where m.brand_id = ${brandId} and (m.moved_at > coalesce(latest.at, '-infinity')
    or m.moved_at = latest.at and (m.moved_by > latest.scan_id or (m.brand_id, m.moved_at) in (${LEFT_BY_LATER_SCAN}))))`;

export const LAST_DAY = `
  select distinct on (brand_id) brand_id, '' as key, active_ads as figure
  from daily_activity.day d
  where exists (select from daily_activity.scan s where s.brand_id = d.brand_id and s.date = d.date and not s.out_of_order)
    and ${unmoved('d.brand_id')}
  order by brand_id, date desc`;
export const ACTIVE_ON_LAST_DAY = `
  select brand_id, '' as key, active_ads as figure from brands.brand b where ${unmoved('b.brand_id')}`;

/** Read models with a table `applied_scan`, then those with the last scan in another table. */
export const SCANNED = [
  'daily-activity',
  'velocity',
  'radar',
  'signals',
  'ads',
  'pages',
  'creatives',
  'social-pages',
  'partnerships',
] as const;
const schemaOf = (name: string): string => name.replaceAll('-', '_');

export const LAST_SCANS = `
  ${SCANNED.map((name) => `select brand_id, '${name}' as key, scanned_at from ${schemaOf(name)}.applied_scan`).join(' union all ')}
  union all select brand_id, 'freshness', scanned_at from freshness.brand where scanned_at is not null`;

const namesIn = (label: string, schema: string, name: string): string =>
  `select category_id, '${label}' as label, ${name} as name from ${schema}.category c`;

export const CATEGORY_NAMES = [
  namesIn('brands', 'brands', categoryNameSql('c')),
  namesIn('brand records', 'brands', 'c.shown_name'),
  namesIn('tools', 'tools', categoryNameSql('c')),
  namesIn('split-tests', 'split_tests', categoryNameSql('c')),
].join(' union all ');

export const DATED: readonly (readonly [schema: string, rows: string])[] = [
  ['radar', 'select brand_id, id::text as key, observed_at as at from radar.item'],
  ['daily_activity', 'select brand_id, scan_id as key, observed_at as at from daily_activity.scan'],
  ['velocity', 'select brand_id, scan_id as key, observed_at as at from velocity.scan'],
  // A moved ad was last seen by scans of its earlier brand.
  [
    'ads',
    `select brand_id, ad_id as key, greatest(first_seen_at, seen_at) as at from ads.ad a where not exists (
       select from ads.history h
       where h.ad_id = a.ad_id and h.change = 'attributed' and h.at > greatest(a.first_seen_at, a.seen_at))`,
  ],
];
