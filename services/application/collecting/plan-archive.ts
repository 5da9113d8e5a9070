import { forecast } from '#domain/collecting/forecast.ts';
import { BATCH_PAGES_MAX, callsOf, type DueBrand, fillBatch } from '#domain/collecting/pack-batches.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { PROMISED_HOURS, type SourcePlan } from './plan-targets.ts';
import { IDLE_AFTER_MS } from './target-states.ts';

/** Due brands from which the collector fills a batch. */
export const BATCH_CANDIDATES_MAX = 50;
/** A page that the library refuses by its id is not asked for during this. A retry by an operator ends it. */
export const PAGE_PAUSE_DAYS = 30;
const CADENCES = ['daily', 'weekly', 'idle'] as const;

type Row = {
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
  const { rows } = await database.query<Row>(
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
  const cadenceOf = ({ cadence, wished_at }: Row) =>
    nowMs - wished_at.getTime() > IDLE_AFTER_MS ? ('idle' as const) : cadence;
  const dueMsOf = (row: Row): number => Math.max(row.due_at.getTime(), row.retry_at?.getTime() ?? 0);
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
