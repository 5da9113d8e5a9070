import { WINDOW_DAYS, inWindowSql, utcDateSql } from '#contracts/values/windows.ts';
import { isoTimeSql } from '#contracts/values/time.ts';
import { categoryNameSql } from '../shared-tables/category-naming.ts';

/** SQL of `brand_id, key, figure` for the invariants. */

export const replay = (...names: readonly string[]): string =>
  `Run ${names.map((name) => `\`ops projections verify ${name}\``).join(' and ')}. A read model that differs from a replay is repaired by \`projections rebuild\`; otherwise the recorded events disagree.`;

/** Compares SQL of `brand_id, key, figure`; an absent figure is 0. */
const equal = (one: string, other: string): string => `
  select brand_id, key, coalesce(a.figure, 0) as one, coalesce(b.figure, 0) as other
  from (${one}) a full join (${other}) b using (brand_id, key)
  where coalesce(a.figure, 0) <> coalesce(b.figure, 0)`;

const ofBrand = (figure: string): string =>
  `select brand_id, '' as key, ${figure} as figure from brands.brand`;

const countOf = (table: string, condition = 'true'): string =>
  `select brand_id, '' as key, count(*) as figure from ${table} where ${condition} group by brand_id`;

/**
 * Null for an unregistered brand. The record cannot be parsed because it holds a placeholder; in strings quotes are escaped,
 * so only the field matches.
 */
const inRecord = (field: string): string => `substring(detail from '"${field}":([0-9]+)')::bigint`;

/** Omits withdrawn items, because corrections have changed the counts of days. */
const itemsOfDay = (type: string): string => `
  select brand_id, ${utcDateSql('observed_at')}::text as key, count(*) as figure
  from radar.item where type = '${type}' and not is_withdrawn group by 1, 2`;

const itemsOfWindow = (type: string, days: number): string => `
  select i.brand_id, '' as key, count(*) as figure
  from radar.item i join radar.applied_scan w using (brand_id)
  join brands.brand b on b.brand_id = i.brand_id and b.detail is not null
  where i.type = '${type}' and not i.is_withdrawn and ${inWindowSql(utcDateSql('i.observed_at'), 'w.scanned_at', days)}
    and i.observed_at <= w.scanned_at
  group by i.brand_id`;

const WINDOW_COUNTS = [
  ['new_ads_7d', 'ad_started', WINDOW_DAYS.week],
  ['new_ads_30d', 'ad_started', WINDOW_DAYS.month],
  ['retired_ads_7d', 'ad_stopped', WINDOW_DAYS.week],
  ['retired_ads_30d', 'ad_stopped', WINDOW_DAYS.month],
] as const;

/** Figures of a week in `velocity` and in the days of `daily-activity`. */
const WEEK_FIGURES = ['active_ads', 'new_ads', 'retired_ads', 'reliable_days'] as const;
const WEEKS = `
  select w.brand_id, w.week_start || ' ' || f.name as key, (w.item::json ->> f.name)::bigint as figure
  from velocity.week w, unnest(array['${WEEK_FIGURES.join("','")}']) f(name)`;
const WEEKS_OF_DAYS = `
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

const LAST_DAY = `
  select distinct on (brand_id) brand_id, '' as key, active_ads as figure
  from daily_activity.day d
  where exists (select from daily_activity.scan s where s.brand_id = d.brand_id and s.date = d.date and not s.out_of_order)
    and ${unmoved('d.brand_id')}
  order by brand_id, date desc`;
const ACTIVE_ON_LAST_DAY = `
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

const LAST_SCANS = `
  ${SCANNED.map((name) => `select brand_id, '${name}' as key, scanned_at from ${schemaOf(name)}.applied_scan`).join(' union all ')}
  union all select brand_id, 'freshness', scanned_at from freshness.brand where scanned_at is not null`;

const namesIn = (label: string, schema: string, name: string): string =>
  `select category_id, '${label}' as label, ${name} as name from ${schema}.category c`;

const CATEGORY_NAMES = [
  namesIn('brands', 'brands', categoryNameSql('c')),
  namesIn('brand records', 'brands', 'c.shown_name'),
  namesIn('tools', 'tools', categoryNameSql('c')),
  namesIn('split-tests', 'split_tests', categoryNameSql('c')),
].join(' union all ');

const DATED: readonly (readonly [schema: string, rows: string])[] = [
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

export type Invariant = {
  readonly name: string;
  readonly rule: string;
  readonly reads: readonly string[];
  readonly figures: readonly [one: string, other: string];
  /** SQL of the violations: `brand_id` (null for the corpus), `key`, `one` and `other`. */
  readonly sql: string;
  /** True for sums over all brands, where no brand can be left out. */
  readonly isOfCorpus?: true;
  /** Absent: `replay` of the read models in `reads`. */
  readonly remedy?: string;
};

/** `npm run ops -- verify` and the nightly check of the worker run these. */
export const INVARIANTS: readonly Invariant[] = [
  {
    name: 'ads-total',
    rule: 'The total of a brand is the number of its listed ads: active, missing and inactive.',
    reads: ['brands', 'ads'],
    figures: ['total_ads of the brand', 'ads listed'],
    sql: equal(ofBrand('total_ads'), countOf('ads.ad')),
  },
  {
    name: 'ads-active',
    rule: 'The active ads of a brand are its listed ads that are active or missing.',
    reads: ['brands', 'ads'],
    figures: ['active_ads of the brand', 'ads active or missing'],
    sql: equal(ofBrand('active_ads'), countOf('ads.ad', `status <> 'inactive'`)),
  },
  {
    name: 'brand-record',
    rule: 'In the record of a brand, active and inactive ads add up to the total.',
    reads: ['brands'],
    figures: ['active_ads + inactive_ads', 'total_ads'],
    sql: equal(
      ofBrand(`${inRecord('active_ads')} + ${inRecord('inactive_ads')}`),
      ofBrand(inRecord('total_ads')),
    ),
  },
  {
    name: 'breakdown',
    rule: 'The formats of a brand add up to its active ads.',
    reads: ['brands'],
    figures: ['sum of the formats', 'active_ads of the brand'],
    sql: equal(
      ofBrand(`(select sum(value::bigint) from json_each_text(breakdown::json -> 'formats'))`),
      ofBrand('active_ads'),
    ),
  },
  {
    name: 'countries',
    rule: 'The ads of a brand in a country are its active or missing ads that were shown there.',
    reads: ['brands', 'ads'],
    figures: ['ads of the country', 'ads active or missing there'],
    sql: equal(
      'select brand_id, country as key, ads as figure from brands.country',
      `select brand_id, country as key, count(*) as figure from ads.ad, unnest(countries) country
       where status <> 'inactive' and country <> 'ALL' group by 1, 2`,
    ),
  },
  {
    name: 'pages-active',
    rule: 'The active ads of a brand on all social pages add up to its active ads.',
    reads: ['brands', 'social-pages'],
    figures: ['active ads over all pages', 'active_ads of the brand'],
    sql: equal(
      `select brand_id, '' as key, sum(active_ads) as figure from social_pages.run group by 1`,
      ofBrand('active_ads'),
    ),
  },
  {
    name: 'pages-total',
    rule: 'The ads of a brand on all social pages add up to its total.',
    reads: ['brands', 'social-pages'],
    figures: ['ads over all pages', 'total_ads of the brand'],
    sql: equal(
      `select brand_id, '' as key, sum(total_ads) as figure from social_pages.run group by 1`,
      ofBrand('total_ads'),
    ),
  },
  {
    name: 'creative-library',
    rule: 'The totals of the creative library cover the active ads of the brand.',
    reads: ['brands', 'creatives'],
    figures: ['active ads of the library', 'active_ads of the brand'],
    sql: equal(countOf('creatives.ad', 'active'), ofBrand('active_ads')),
  },
  {
    name: 'last-day',
    rule: 'The last day of the daily activity has the active ads of the brand, unless ads moved after its last scan.',
    reads: ['brands', 'daily-activity', 'ads'],
    figures: ['active ads of the last day', 'active_ads of the brand'],
    sql: equal(LAST_DAY, ACTIVE_ON_LAST_DAY),
    remedy: replay('brands', 'daily-activity'),
  },
  {
    name: 'weeks',
    rule: 'A week has the active ads of its last day, and sums its reliable days.',
    reads: ['velocity', 'daily-activity'],
    figures: ['figure of the week', 'figure of its days'],
    sql: equal(WEEKS, WEEKS_OF_DAYS),
  },
  {
    name: 'radar-started',
    rule: 'The new ads of a day are the ads that the radar shows as started on it.',
    reads: ['radar', 'daily-activity'],
    figures: ['ads started in the radar', 'new_ads of the day'],
    sql: equal(
      itemsOfDay('ad_started'),
      'select brand_id, date::text as key, new_ads as figure from daily_activity.day',
    ),
  },
  {
    name: 'radar-stopped',
    rule: 'The retired ads of a day are the ads that the radar shows as stopped on it.',
    reads: ['radar', 'daily-activity'],
    figures: ['ads stopped in the radar', 'retired_ads of the day'],
    sql: equal(
      itemsOfDay('ad_stopped'),
      'select brand_id, date::text as key, retired_ads as figure from daily_activity.day',
    ),
  },
  ...WINDOW_COUNTS.map(
    ([field, type, days]): Invariant => ({
      name: `radar-${field.replaceAll('_', '-')}`,
      rule: `${field} of a brand counts the ${type} items of its radar in the last ${days} days.`,
      reads: ['brands', 'radar'],
      figures: [`${type} items of the radar`, `${field} of the brand`],
      sql: equal(itemsOfWindow(type, days), ofBrand(inRecord(field))),
    }),
  ),
  {
    name: 'radar-signals',
    rule: 'The signals of a day count the items of the radar: ads started, ads stopped, destinations changed.',
    reads: ['radar', 'signals'],
    figures: ['items of the radar', 'items of the signals'],
    sql: equal(
      `select brand_id, ${utcDateSql('observed_at')} || ' ' || replace(type, 'ad_', '') as key, count(*) as figure
       from radar.item where not is_withdrawn group by 1, 2`,
      `select brand_id, date || ' ' || cause as key, count(*) as figure from signals.occurrence
       where brand_id is not null and not is_withdrawn group by 1, 2`,
    ),
  },
  {
    name: 'week-in-month',
    rule: 'Counts of the last 7 days are not greater than those of the last 30 days.',
    reads: ['brands'],
    figures: ['count of 7 days', 'count of 30 days'],
    sql: `
      select b.brand_id, f.key, f.week as one, f.month as other from brands.brand b cross join lateral (values
        ('new_ads', ${inRecord('new_ads_7d')}, ${inRecord('new_ads_30d')}),
        ('retired_ads', ${inRecord('retired_ads_7d')}, ${inRecord('retired_ads_30d')})) f(key, week, month)
      where f.week > f.month`,
  },
  {
    name: 'last-scan',
    rule: 'All read models have applied the same last scan of a brand; its freshness is not newer.',
    reads: ['brands', 'freshness', ...SCANNED],
    figures: ['last scan of the read model', 'last scan of the brand'],
    sql: `
      select brand_id, s.key, ${isoTimeSql('s.scanned_at')} as one, ${isoTimeSql('b.scanned_at')} as other
      from (${LAST_SCANS}) s full join (select * from brands.brand where scanned_at is not null) b using (brand_id)
      where case when s.key = 'freshness' then s.scanned_at > b.scanned_at or b.scanned_at is null
        else s.scanned_at is distinct from b.scanned_at end`,
    remedy: 'Run `ops projections verify` of `brands` and of the read model that the key names.',
  },
  {
    name: 'dated-after-as-of',
    rule: 'Nothing is dated after the last scan of its brand, except ads that came from another brand since.',
    reads: DATED.map(([schema]) => schema.replaceAll('_', '-')),
    figures: ['time of the row', 'last scan of the brand'],
    sql: DATED.map(
      ([schema, rows]) => `
      select r.brand_id, '${schema} ' || r.key as key, ${isoTimeSql('r.at')} as one, ${isoTimeSql('w.scanned_at')} as other
      from (${rows}) r left join ${schema}.applied_scan w using (brand_id)
      where r.at > w.scanned_at or w.scanned_at is null`,
    ).join(' union all '),
    remedy: 'Run `ops projections verify` of the read model that the key begins with.',
  },
  {
    name: 'category-totals',
    isOfCorpus: true,
    rule: 'The totals of a category are the sums over its public brands.',
    reads: ['brands', 'categories'],
    figures: ['totals of the category: brands, active and total ads', 'sums over its brands'],
    sql: `
      select null::uuid as brand_id, category_id::text as key, coalesce(c.figure, '0 0 0') as one,
        coalesce(b.figure, '0 0 0') as other
      from (
        select category_id, brands || ' ' || active_ads || ' ' || total_ads as figure from categories.category
      ) c full join (
        select category_id, count(*) || ' ' || sum(active_ads) || ' ' || sum(total_ads) as figure
        from brands.brand, unnest(category_ids) category_id where is_public and slug is not null group by 1
      ) b using (category_id)
      where coalesce(c.figure, '0 0 0') <> coalesce(b.figure, '0 0 0')`,
  },
  {
    name: 'category-names',
    isOfCorpus: true,
    rule: 'A category has the same name in all replies.',
    reads: ['categories', 'brands', 'tools', 'split-tests'],
    figures: ['name of the category', 'name elsewhere'],
    sql: `
      select null::uuid as brand_id, o.label || ' ' || category_id as key, ${categoryNameSql('c')} as one, o.name as other
      from categories.category c join (${CATEGORY_NAMES}) o using (category_id)
      where o.name is distinct from ${categoryNameSql('c')} and not (o.label <> 'brand records' and o.name is null)`,
  },
  {
    name: 'corpus-totals',
    isOfCorpus: true,
    rule: 'The counts of the corpus are the sums over its brands.',
    reads: ['brands'],
    figures: ['brands and ads of the corpus', 'sums over the brands'],
    sql: `
      select null::uuid as brand_id, 'corpus' as key, c.figure as one, b.figure as other
      from (select coalesce(sum(brands), 0) || ' ' || coalesce(sum(ads), 0) as figure from brands.corpus_count) c,
        (select count(*) || ' ' || coalesce(sum(total_ads), 0) as figure from brands.brand where slug is not null) b
      where c.figure <> b.figure`,
  },
];
