import type { CollectingForecast } from '#contracts/resources/workspace/brand-request.ts';
import { SLO_HOURS } from '#contracts/resources/workspace/tracked-brand.ts';
import type { Cadence } from '#contracts/values/primitives.ts';
import { HOUR_MS } from '#contracts/values/time.ts';
import {
  type Forecast,
  type PlannedReading,
  type ReadCadence,
  costOf,
  forecast,
} from '#domain/collecting/forecast.ts';
import { PACE_MS } from '#platform/http-client/polite-client.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { BATCH_PAGES_MAX, type DueBrand, callsOf, fillBatch } from '#domain/collecting/pack-batches.ts';
import { IDLE_AFTER_MS, SITE_INTERVAL_HOURS, hasTargets } from './target-states.ts';
import { readLibraryAccounts } from './library-account.ts';

/** A collector reads these at once: each waits for the pace of its host most of the time. */
export const CONCURRENT_TARGETS = 16;
const CALLS_PER_HOUR = (CONCURRENT_TARGETS * HOUR_MS) / PACE_MS;

type PlannedSource = {
  /** Requests assumed for a target that was never read. */
  readonly requestsUnknown: number;
  readonly requestsBesidePages: number;
  /** Hours between two readings; absent: those of the cadence. */
  readonly intervalHours?: number;
};

/** Omits visits to landing pages, which depend on links of future ads. */
const PLANNED_SOURCES: Readonly<Record<string, PlannedSource>> = {
  // `robots.txt`, `/meta.json`, and the empty page at the end.
  storefront: { requestsUnknown: 5, requestsBesidePages: 3 },
  // `robots.txt`. A site has five pages at most.
  site: { requestsUnknown: 6, requestsBesidePages: 1, intervalHours: SITE_INTERVAL_HOURS },
};

/** The next reading has ended by then. An idle target promises none. */
export const PROMISED_HOURS: Readonly<Record<ReadCadence, number | null>> = { ...SLO_HOURS, idle: null };

export type SourcePlan = Omit<Forecast, 'turns'> & {
  readonly source: string;
  /** Excludes paused targets. */
  readonly targets: number;
  readonly callsPerHour: number;
  /** Looks at daily brands between their scans; 0 when a round of scans fits into the calls. */
  readonly looksPerDay: number;
};

type TargetRow = {
  readonly source: string;
  readonly domain: string;
  readonly cadence: 'daily' | 'weekly';
  readonly wished_at: Date;
  readonly due_at: Date;
  readonly retry_at: Date | null;
  readonly pages: number;
};

const targetCalls = ({ source, pages }: TargetRow): number => {
  const { requestsUnknown, requestsBesidePages } = PLANNED_SOURCES[source] as PlannedSource;
  return pages === 0 ? requestsUnknown : pages + requestsBesidePages;
};

type TargetReading = PlannedReading & { readonly source: string };

/** One of each target that is not paused; `null` before the tables exist. */
const readReadings = async (database: Database, nowMs: number): Promise<readonly TargetReading[] | null> => {
  if (!(await hasTargets(database))) return null;
  const { rows } = await database.query<TargetRow>(
    `select t.source, t.domain, t.cadence, t.wished_at, t.due_at, t.retry_at,
       (select count(*)::int from collecting.spool s where s.batch_id = t.last_batch_id) as pages
     from collecting.target t where t.source = any($1) and t.paused is null`,
    [Object.keys(PLANNED_SOURCES)],
  );
  return rows.map((row) => ({
    id: `${row.source} ${row.domain}`,
    source: row.source,
    cadence: nowMs - row.wished_at.getTime() > IDLE_AFTER_MS ? ('idle' as const) : row.cadence,
    dueMs: Math.max(row.due_at.getTime(), row.retry_at?.getTime() ?? 0),
    calls: targetCalls(row),
    intervalHours: PLANNED_SOURCES[row.source]?.intervalHours,
  }));
};

/**
 * Collectors share their requests among shops and sites. One plan per source with targets; none before the tables
 * exist.
 */
export const planTargets = async (
  database: Database,
  now: Date,
  processes: number,
): Promise<readonly SourcePlan[]> => {
  const nowMs = now.getTime();
  const readings = await readReadings(database, nowMs);
  if (readings === null) return [];
  const callsPerHour = CALLS_PER_HOUR * processes;
  const { late } = forecast(readings, { nowMs, callsPerHour, promisedHours: PROMISED_HOURS });
  return Object.keys(PLANNED_SOURCES).flatMap((source): SourcePlan[] => {
    const own = readings.filter((reading) => reading.source === source);
    if (own.length === 0) return [];
    const lateDomains = late
      .filter((id) => id.startsWith(`${source} `))
      .map((id) => id.slice(source.length + 1));
    return [
      {
        source,
        targets: own.length,
        callsPerHour,
        ...costOf(own, callsPerHour),
        looksPerDay: 0,
        late: lateDomains,
      },
    ];
  });
};

/**
 * Requests of the first reading of a domain's site and shop, and days of a round of all targets with it, by one
 * collector. `null` before a collector has created its tables.
 */
export const forecastFirstReading = async (
  database: Database,
  now: Date,
  domain: string,
  cadence: Cadence,
): Promise<CollectingForecast | null> => {
  const nowMs = now.getTime();
  const known = await readReadings(database, nowMs);
  if (known === null) return null;
  const first = Object.entries(PLANNED_SOURCES).map(([source, { requestsUnknown, intervalHours }]) => ({
    id: `${source} ${domain}`,
    cadence,
    dueMs: nowMs,
    calls: requestsUnknown,
    intervalHours,
  }));
  const ids = new Set(first.map(({ id }) => id));
  const others = known.filter(({ id }) => !ids.has(id));
  const { daysPerRound } = costOf([...others, ...first], CALLS_PER_HOUR);
  const calls = costOf(first, CALLS_PER_HOUR).callsPerRound;
  return { calls, days: Math.ceil(daysPerRound * 1_000) / 1_000 };
};

/** Due brands from which the collector fills a batch. */
export const BATCH_CANDIDATES_MAX = 50;
/** A page that the library refuses by its id is not asked for during this. A retry by an operator ends it. */
export const PAGE_PAUSE_DAYS = 30;
const CADENCES = ['daily', 'weekly', 'idle'] as const;

type PageRow = {
  readonly domain: string;
  readonly cadence: 'daily' | 'weekly';
  readonly wished_at: Date;
  readonly due_at: Date;
  readonly retry_at: Date | null;
  /** `ads`: active ads of the page's last complete scan; 0 before the first. */
  readonly pages: readonly { readonly pageId: string; readonly ads: number }[];
};

const HAS_TABLES = `
  select to_regclass('collecting.archive_page') is not null and to_regclass('social_pages.link') is not null
    and to_regclass('brands.brand') is not null as found`;

/** One batch reads the brands. Each ten pages are a list of their own. */
const callsOfBrands = (brands: readonly DueBrand[]): number => {
  const pages = new Map(
    brands.flatMap((brand) => brand.pages.map(({ pageId, ads }) => [pageId, ads] as const)),
  );
  const ads = [...pages.values()].reduce((sum, count) => sum + count, 0);
  const moreLists = Math.max(Math.ceil(pages.size / BATCH_PAGES_MAX) - 1, 0);
  return callsOf({ ads }) + moreLists * callsOf({ ads: 0 });
};

/** Like the collector, in the order in which brands are due. */
const batchesOf = (brands: readonly DueBrand[]): readonly (readonly DueBrand[])[] => {
  const batches: (readonly DueBrand[])[] = [];
  let rest = brands;
  for (;;) {
    const batch = fillBatch(rest.slice(0, BATCH_CANDIDATES_MAX));
    if (batch.length === 0) return batches;
    batches.push(batch);
    rest = rest.filter((brand) => !batch.includes(brand));
  }
};

/** One call a day for up to ten pages. Brands with more pages have no looks. */
const looksOf = async (database: Database, daily: readonly DueBrand[], now: Date): Promise<number> => {
  const { rows } = await database.query<{ off: boolean }>(
    'select coalesce(bool_or(looks_off_until > $1), false) as off from collecting.account',
    [now],
  );
  if (rows[0]?.off === true) return 0;
  return batchesOf(
    daily
      .filter(({ pages }) => pages.length <= BATCH_PAGES_MAX)
      .map(({ domain, pages }) => ({ domain, pages: pages.map(({ pageId }) => ({ pageId, ads: 0 })) })),
  ).length;
};

/**
 * Counts the hourly calls of all accounts together. Brands without linked pages take none. `null` before the tables
 * exist.
 */
export const planArchive = async (
  database: Database,
  now: Date,
  callsPerHour: number,
): Promise<SourcePlan | null> => {
  const found = await database.query<{ found: boolean }>(HAS_TABLES);
  if (found.rows[0]?.found !== true) return null;
  const { rows } = await database.query<PageRow>(
    `select t.domain, t.cadence, t.wished_at, t.due_at, t.retry_at,
       json_agg(json_build_object('pageId', l.social_page_id, 'ads', coalesce(p.ads, 0))
         order by l.social_page_id) as pages
     from collecting.target t
     join brands.brand b on b.domain = t.domain
     join social_pages.link l on l.brand_id = b.brand_id
     left join collecting.archive_page p on p.social_page_id = l.social_page_id
     where t.source = 'ads_archive' and t.paused is null
       and (p.paused_at is null or p.paused_at <= $1::timestamptz - make_interval(days => $2))
     group by t.source, t.domain order by t.due_at, t.domain`,
    [now, PAGE_PAUSE_DAYS],
  );
  const nowMs = now.getTime();
  const cadenceOf = ({ cadence, wished_at }: PageRow) =>
    nowMs - wished_at.getTime() > IDLE_AFTER_MS ? ('idle' as const) : cadence;
  const dueMsOf = (row: PageRow): number => Math.max(row.due_at.getTime(), row.retry_at?.getTime() ?? 0);
  const dueMs = new Map(rows.map((row) => [row.domain, dueMsOf(row)]));
  const batches = CADENCES.flatMap((cadence) =>
    batchesOf(rows.filter((row) => cadenceOf(row) === cadence)).map((brands) => ({ cadence, brands })),
  );
  const readings = batches.map(({ cadence, brands }, index) => ({
    id: String(index),
    cadence,
    dueMs: Math.min(...brands.map(({ domain }) => dueMs.get(domain) ?? nowMs)),
    calls: callsOfBrands(brands),
  }));
  const { turns: _, ...figures } = forecast(readings, { nowMs, callsPerHour, promisedHours: PROMISED_HOURS });
  const late = figures.late.flatMap((id) => batches[Number(id)]?.brands.map(({ domain }) => domain) ?? []);
  const daily = rows.filter((row) => cadenceOf(row) === 'daily');
  const looksPerDay = figures.load > 1 ? await looksOf(database, daily, now) : 0;
  return { source: 'ads_archive', targets: rows.length, callsPerHour, ...figures, looksPerDay, late };
};

/** Accounts that make calls, at least one. */
export const appsOf = async (database: Database, now: Date): Promise<number> =>
  Math.max(1, (await readLibraryAccounts(database, now)).filter(({ state }) => state !== 'off').length);

export type PlanLimits = {
  /** Calls an hour of each account: `ADS_ARCHIVE_CALLS_PER_HOUR`. */
  readonly archiveCallsPerHour: number;
  readonly processes?: number;
  readonly apps?: number;
};

/**
 * Shops and sites with `processes` collectors; the library API with `apps`, by default one per account with a valid
 * token. None before the tables exist.
 */
export const planSources = async (
  database: Database,
  now: Date,
  { archiveCallsPerHour, processes = 1, apps }: PlanLimits,
): Promise<readonly SourcePlan[]> => {
  const present = apps ?? (await appsOf(database, now));
  const [own, archive] = await Promise.all([
    planTargets(database, now, processes),
    planArchive(database, now, archiveCallsPerHour * present),
  ]);
  return archive === null || archive.targets === 0 ? own : [...own, archive];
};

/** Names at most `lateMax` late targets. */
export const planRecord = (plan: SourcePlan, lateMax: number) => ({
  source: plan.source,
  targets: plan.targets,
  calls_an_hour: plan.callsPerHour,
  calls_a_round: plan.callsPerRound,
  days_a_round: plan.daysPerRound,
  load: plan.load,
  looks_a_day: plan.looksPerDay,
  late: plan.late.length,
  late_targets: plan.late.slice(0, lateMax),
});
