import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import {
  COMPLETE_SCAN_DAYS,
  COVERAGE_DAYS,
  INCOMPLETE_SCANS_SHOWN_MAX,
  NARROWING_SCANS_SHOWN_MAX,
  type Source,
} from '#contracts/resources/corpus/coverage.ts';
import { SOCIAL_PAGES_MAX } from '#contracts/resources/corpus/social-page.ts';
import { isoTimeSql } from '#contracts/values/time.ts';
import { utcDateSql } from '#contracts/values/windows.ts';
import { LAST_SEEN_AT, PAGE_OF_AD } from '../sql/ad-age.ts';

/** Read models that the reads of this file need. */
export const READ_MODELS_OF_BOUNDS = [
  'brands',
  'freshness',
  'daily-activity',
  'social-pages',
  'ads',
] as const;
export const READ_MODELS_OF_COVERAGE = [
  ...READ_MODELS_OF_BOUNDS,
  'signals',
  'pages',
  'creatives',
  'tools',
  'store',
  'traffic',
  'categories',
] as const;

// An observation repeats a link or ends it, so the present link began after the last end.
const LINKED_SINCE = `(
  select ${isoTimeSql('min(o.observed_at)')} from signals.link o
  where o.brand_id = $1 and o.social_page_id = l.social_page_id and o.role is not null
    and o.observed_at > coalesce((
      select max(e.observed_at) from signals.link e
      where e.brand_id = $1 and e.social_page_id = l.social_page_id and e.role is null), '-infinity'))`;

const PAGES = `
  with linked as materialized (
    select l.social_page_id, l.role, n.page_name, count(*) over () as total
    from social_pages.link l left join social_pages.page n using (social_page_id)
    where l.brand_id = $1 order by l.social_page_id limit ${SOCIAL_PAGES_MAX}
  ), looked as materialized (
    select distinct on (page_id, country) page_id, country, s.observed_at, s.collector
    from freshness.scan s cross join unnest(s.pages) page_id cross join unnest(s.countries) country
    where s.brand_id = $1 and s.complete and not s.no_look and s.date > $2::date - ${COMPLETE_SCAN_DAYS}
      and page_id in (select social_page_id from linked)
    order by page_id, country, s.observed_at desc, s.scan_id desc
  )
  select l.total::int, json_build_object(
    'page', json_build_object('page_id', l.social_page_id, 'page_name', l.page_name),
    'role', l.role, 'linked_since', ${LINKED_SINCE},
    'complete_scans', coalesce((
      select json_agg(json_build_object(
        'country', k.country, 'scanned_at', ${isoTimeSql('k.observed_at')}, 'collector', k.collector) order by k.country)
      from looked k where k.page_id = l.social_page_id), '[]'::json))::text as item
  from linked l order by l.social_page_id`;

/** Pages linked to a brand as JSON texts, with the complete scans of each by `today`; `total` counts all. */
export const listCoveredPages = async (
  db: ReadDatabase,
  brandId: string,
  today: string,
): Promise<{ readonly items: readonly string[]; readonly total: number }> => {
  const rows = await db.query<{ total: number; item: string }>({ sql: PAGES, values: [brandId, today] });
  return { items: rows.map(({ item }) => item), total: rows[0]?.total ?? 0 };
};

const INCOMPLETE = `
  with linked as materialized (
    select social_page_id from social_pages.link where brand_id = $1
  ), incomplete as materialized (
    select * from freshness.scan s
    where s.brand_id = $1 and not s.complete and not s.no_look and s.date > $2::date - ${COVERAGE_DAYS} and s.date <= $2::date
      and (s.own or s.pages && array(select social_page_id from linked))
  )
  select json_build_object('count', (select count(*) from incomplete), 'newest', coalesce((
    select json_agg(json_build_object(
      'scanned_at', ${isoTimeSql('i.observed_at')},
      'page_ids', array(
        select page_id from unnest(i.pages) page_id
        where page_id in (select social_page_id from linked) order by page_id),
      'countries', i.countries, 'collector', i.collector) order by i.observed_at desc, i.scan_id desc)
    from (
      select * from incomplete order by observed_at desc, scan_id desc limit ${INCOMPLETE_SCANS_SHOWN_MAX}
    ) i), '[]'::json))::text as item`;

/** JSON text. */
export const readIncompleteScans = async (
  db: ReadDatabase,
  brandId: string,
  today: string,
): Promise<string> =>
  (await db.query<{ item: string }>({ sql: INCOMPLETE, values: [brandId, today] }))[0]?.item ??
  '{"count":0,"newest":[]}';

/** Reliable days of the window that ends with `today`, oldest first. */
export const listReliableDays = async (
  db: ReadDatabase,
  brandId: string,
  today: string,
): Promise<readonly string[]> => {
  const rows = await db.query<{ date: string }>({
    sql: `select date::text from daily_activity.day
          where brand_id = $1 and reliable and date > $2::date - ${COVERAGE_DAYS} and date <= $2::date order by date`,
    values: [brandId, today],
  });
  return rows.map(({ date }) => date);
};

/** SQL of the day of each source's newest observation. */
const OBSERVED_ON: Readonly<Record<Source, string>> = {
  library: `select ${utcDateSql('scanned_at')} from freshness.brand where brand_id = $1`,
  profile: `select ${utcDateSql('profiled_at')} from categories.brand where brand_id = $1`,
  page_profiles: `select ${utcDateSql('max(observed_at)')} from social_pages.profile
    where social_page_id in (select social_page_id from social_pages.link where brand_id = $1)`,
  landing_pages: `select ${utcDateSql('max(p.scraped_at)')} from pages.page_brand b join pages.page p using (landing_page_id)
    where b.brand_id = $1`,
  media_files: `select ${utcDateSql('max(seen_at)')} from creatives.scope where scope_id = $1`,
  site: `select ${utcDateSql('scanned_at')} from tools.brand where brand_id = $1`,
  shop: `select ${utcDateSql('max(observed_at)')} from store.scan where brand_id = $1`,
  traffic: `select ${utcDateSql('observed_at')} from traffic.site where brand_id = $1`,
  audience: 'select demographics_on from traffic.site where brand_id = $1',
};

const SOURCES_OBSERVED = `select (
    select ${isoTimeSql('known_since')} from freshness.brand where brand_id = $1) as known_since, array[${Object.entries(
      OBSERVED_ON,
    )
      .map(([source, day]) => `json_build_object('source', '${source}', 'last_observed_on', (${day}))::text`)
      .join(', ')}] as items`;

/** `items`: JSON texts, one for each source. `known_since`: `null` before the registration is projected. */
export const readSources = async (
  db: ReadDatabase,
  brandId: string,
): Promise<{ readonly known_since: string | null; readonly items: readonly string[] }> =>
  (
    await db.query<{ known_since: string | null; items: readonly string[] }>({
      sql: SOURCES_OBSERVED,
      values: [brandId],
    })
  )[0] ?? { known_since: null, items: [] };

/** Time of the newest scan that all read models of the bounds have applied; `null` before the first. */
export const readLookedAt = async (db: ReadDatabase, brandId: string): Promise<string | null> => {
  const rows = await db.query<{ at: string | null }>({
    sql: `select ${isoTimeSql('least(f.applied_at, a.scanned_at, b.as_of)')} as at
          from freshness.brand f join ads.applied_scan a using (brand_id) join brands.brand b using (brand_id)
          where f.brand_id = $1 and f.applied_at is not null`,
    values: [brandId],
  });
  return rows[0]?.at ?? null;
};

export type Gap = { readonly page_id: string; readonly country: string; readonly day: string };
export type LinkedPagesCoverage = {
  readonly pages: number;
  readonly countries: readonly string[];
  readonly uncoveredDays: readonly string[];
  readonly gaps: readonly Gap[];
  readonly gapsTotal: number;
};

/** A pair of page and country is covered on a day by a complete scan of it, and of all countries. */
const GAPS = `
  with linked as materialized (
    select social_page_id as page_id from social_pages.link where brand_id = $1
  ), scanned as materialized (
    select distinct s.date, s.complete, page_id, country
    from freshness.scan s cross join unnest(s.pages) page_id cross join unnest(s.countries) country
    where s.brand_id = $1 and not s.no_look and s.date between $2::date - ${COVERAGE_DAYS} and $3::date
      and page_id in (select page_id from linked)
  ), asked as materialized (
    select distinct country from scanned
  ), day as materialized (
    select g::date as date from generate_series($2::date, $3::date, interval '1 day') g
  ), gap as materialized (
    select d.date, l.page_id, coalesce(a.country, 'ALL') as country
    from day d cross join linked l left join asked a on true
    where not exists (
      select from scanned c where c.complete and c.date = d.date and c.page_id = l.page_id
        and c.country in (a.country, 'ALL'))
  )
  select (select count(*) from linked)::int as pages,
    array(select country from asked order by country) as countries,
    array(
      select d.date::text from day d
      where exists (select from gap g where g.date = d.date) or not exists (
        select from daily_activity.day r where r.brand_id = $1 and r.date = d.date and r.reliable)
      order by d.date) as "uncoveredDays",
    coalesce((
      select json_agg(json_build_object('page_id', page_id, 'country', country, 'day', date))
      from (
        select * from gap order by date, page_id, country limit ${NARROWING_SCANS_SHOWN_MAX}
      ) g), '[]'::json) as gaps,
    (select count(*) from gap)::int as "gapsTotal"`;

/** From the first day to the last one. */
export const readGaps = async (
  db: ReadDatabase,
  brandId: string,
  from: string,
  to: string,
): Promise<LinkedPagesCoverage> => {
  const [found] = await db.slow<LinkedPagesCoverage>({ sql: GAPS, values: [brandId, from, to] });
  return found ?? { pages: 0, countries: [], uncoveredDays: [], gaps: [], gapsTotal: 0 };
};

const countAds = async (db: ReadDatabase, where: string, values: readonly unknown[]): Promise<number> =>
  (
    await db.slow<{ ads: number }>({
      sql: `select count(*)::int as ads from ads.ad a ${PAGE_OF_AD} where a.brand_id = $1 and ${where}`,
      values,
    })
  )[0]?.ads ?? 0;

export const countAdsSeenOn = (db: ReadDatabase, brandId: string, day: string): Promise<number> =>
  countAds(db, `a.status = 'active' and ${utcDateSql(LAST_SEEN_AT)} = $2::date`, [brandId, day]);

/** Ads that began in the window by their start date, and were seen by its end. */
export const countAdsBegun = (db: ReadDatabase, brandId: string, from: string, to: string): Promise<number> =>
  countAds(
    db,
    `a.started_on between $2::date and $3::date and ${utcDateSql('a.first_seen_at')} <= $3::date`,
    [brandId, from, to],
  );

/** Ads seen running in the window, and confirmed inactive by `confirmedBy`. */
export const countAdsStopped = (
  db: ReadDatabase,
  brandId: string,
  from: string,
  confirmedBy: string,
): Promise<number> =>
  countAds(
    db,
    `a.status = 'inactive' and a.observed_running and ${utcDateSql('a.seen_at')} >= $2::date
      and ${utcDateSql('a.inactive_since')} <= $3::date`,
    [brandId, from, confirmedBy],
  );
