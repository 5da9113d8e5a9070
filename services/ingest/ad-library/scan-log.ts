import type { ScanTotals } from '#contracts/events/corpus/ad-library-values.ts';
import { utcDate } from '#contracts/values/time.ts';
import type { LooksByPage } from '#domain/corpus/ad-library/absences.ts';
import type { LookHistory, PageHistory, PageLook } from '#domain/corpus/ad-library/looks.ts';
import {
  type DayScan,
  type LinkObservation,
  type LinkPeriod,
  linkPeriods,
} from '#domain/corpus/ad-library/reliability.ts';
import type { ReplayScan } from '#domain/corpus/ad-library/replay.ts';
import type { ScanHeader } from '#domain/corpus/ad-library/scan.ts';
import { NO_PAGE } from '#domain/corpus/ad-library/state.ts';
import type { Database } from '#platform/postgres/pool.ts';

export type ScanTime = Pick<ScanHeader, 'scan_id' | 'scanned_at'>;

/** Without the scan `except`. The id of a brand stands for ads without a page in scans for it. */
export const firstMeetings = async (
  database: Database,
  scannedFor: readonly string[],
  pageIds: readonly string[],
  except: ScanTime | null = null,
): Promise<ReadonlyMap<string, string>> => {
  const { rows } = await database.query<{ social_page_id: string; met_at: string | null }>(
    `select social_page_id, min(met_at) as met_at from (
       select social_page_id, case when page_met_at = $4
           and known->'looks' @> jsonb_build_array(jsonb_build_object('scan_id', $3::text)) then (
           select min(look->>'observed_at') from jsonb_array_elements(known->'looks') look
           where look->>'scan_id' <> $3 and look->>'kind' <> 'absent'
             and look->>'observed_at' >= page_met_at)
         else page_met_at end as met_at
       from ingest.ad where social_page_id = any($2::text[])
       union all
       select p.social_page_id, s.observed_at from ingest.scan_page p join ingest.scan s using (scan_id)
       where p.social_page_id = any($2::text[]) and s.scan_id is distinct from $3::uuid
     ) met group by social_page_id
     union all
     select s.scanned_for::text, min(s.observed_at)
     from ingest.scan s
     where s.scanned_for = any($1::uuid[]) and s.scan_id is distinct from $3::uuid and s.unnamed
     group by s.scanned_for`,
    [scannedFor, pageIds, except?.scan_id ?? null, except?.scanned_at ?? null],
  );
  return new Map(
    rows.flatMap(({ social_page_id, met_at }) => (met_at === null ? [] : [[social_page_id, met_at]])),
  );
};

/** Only the last of the earlier complete scans for each set of countries, because novelty needs no other. */
export const lookHistory = async (
  database: Database,
  scan: ScanHeader,
  pageIds: readonly string[],
): Promise<LookHistory> => {
  if (pageIds.length === 0) return { pages: new Map(), searches: [] };
  const isUnnamed = pageIds.some((pageId) => !scan.pageIds.has(pageId));
  const [looks, searches, met] = await Promise.all([
    database.query<PageLook & { social_page_id: string }>({
      name: 'ingest_last_looks',
      text: `
        select p.social_page_id, s.countries, max(s.observed_at) as observed_at
        from ingest.scan_page p join ingest.scan s using (scan_id)
        where p.social_page_id = any($1::text[]) and s.complete and s.observed_at < $2
        group by p.social_page_id, s.countries order by p.social_page_id, s.countries`,
      values: [pageIds, scan.scanned_at],
    }),
    isUnnamed
      ? database.query<PageLook>(
          `select countries, max(observed_at) as observed_at from ingest.scan
           where scanned_for = $1 and complete and observed_at < $2 group by countries order by countries`,
          [scan.scanned_for, scan.scanned_at],
        )
      : { rows: [] },
    isUnnamed ? firstMeetings(database, [scan.scanned_for], pageIds) : new Map<string, string>(),
  ]);
  const pages = new Map<string, PageHistory>();
  for (const pageId of pageIds) {
    pages.set(pageId, {
      met_at: met.get(pageId === NO_PAGE ? scan.scanned_for : pageId) ?? null,
      looks: looks.rows.filter(({ social_page_id }) => social_page_id === pageId),
    });
  }
  return { pages, searches: searches.rows };
};

export const looksAfter = async (
  database: Database,
  { scan_id, scanned_at }: ScanTime,
  pageIds: readonly string[],
): Promise<LookHistory> => {
  const { rows } = await database.query<PageLook & { social_page_id: string }>(
    `select p.social_page_id, s.scan_id, s.observed_at, s.countries
     from ingest.scan_page p join ingest.scan s using (scan_id)
     where p.social_page_id = any($1::text[]) and s.complete and (s.observed_at, s.scan_id) > ($2, $3::uuid)
     order by s.observed_at, s.scan_id`,
    [pageIds, scanned_at, scan_id],
  );
  const looks = Map.groupBy(rows, ({ social_page_id }) => social_page_id);
  return {
    pages: new Map([...looks].map(([pageId, ofPage]) => [pageId, { met_at: null, looks: ofPage }])),
    searches: [],
  };
};

export const looksSince = async (
  database: Database,
  { scan_id, scanned_at }: ScanTime,
  pageIds: readonly string[],
  since: string,
): Promise<LooksByPage> => {
  const { rows } = await database.query<PageLook & { social_page_id: string }>(
    `select p.social_page_id, s.scan_id, s.observed_at, s.countries
     from ingest.scan_page p join ingest.scan s using (scan_id)
     where p.social_page_id = any($1::text[]) and s.complete and s.observed_at > $2
       and (s.observed_at, s.scan_id) < ($3, $4::uuid)
     order by s.observed_at, s.scan_id`,
    [pageIds, since, scanned_at, scan_id],
  );
  return Map.groupBy(rows, ({ social_page_id }) => social_page_id);
};

/** The brand's scans, and complete ones that named the page; `null` when there is none. */
export const newestScanSince = async (
  database: Database,
  brandId: string,
  pageId: string,
  since: string,
): Promise<string | null> => {
  const { rows } = await database.query<{ newest: string | null }>({
    name: 'ingest_newest_scan_since',
    text: `
      select max(observed_at) as newest from (
        select s.observed_at from ingest.recorded_scan r join ingest.scan s using (scan_id)
        where r.brand_id = $1 and s.observed_at >= $3
        union all
        select s.observed_at from ingest.scan_page p join ingest.scan s using (scan_id)
        where p.social_page_id = $2 and s.complete and s.observed_at >= $3
      ) later`,
    values: [brandId, pageId, since],
  });
  return rows[0]?.newest ?? null;
};

/** Does not grow with the number of scans. */
export const hasOtherCollector = async (
  database: Database,
  brandId: string,
  collector: string,
  alsoIds: readonly string[],
): Promise<boolean> => {
  const { rows } = await database.query({
    name: 'ingest_has_other_collector',
    text: `
      select from ingest.recorded_scan where brand_id = $1 and collector < $2
      union all select from ingest.recorded_scan where brand_id = $1 and collector > $2
      union all select from ingest.scan where scan_id = any($3::uuid[]) and collector <> $2 limit 1`,
    values: [brandId, collector, alsoIds],
  });
  return rows.length > 0;
};

export const linksOf = async (database: Database, brandId: string): Promise<readonly LinkPeriod[]> => {
  const { rows } = await database.query<LinkObservation>(
    `select social_page_id as page_id, observed_at, linked from ingest.page_link where brand_id = $1
     order by social_page_id, observed_at`,
    [brandId],
  );
  return linkPeriods(rows);
};

export const completeScansOfDay = async (
  database: Database,
  brandId: string,
  time: string,
  pageIds: readonly string[],
): Promise<readonly DayScan[]> => {
  const day = utcDate(time);
  const { rows } = await database.query<{
    scan_id: string;
    observed_at: string;
    scanned_for: string;
    page_ids: readonly string[];
  }>(
    `select s.scan_id, s.observed_at, s.scanned_for,
       array(select social_page_id from ingest.scan_page p
         where p.scan_id = s.scan_id and p.social_page_id = any($4::text[]) order by 1) as page_ids
     from ingest.scan s
     where s.complete and s.observed_at >= $2 and s.observed_at < $3 and s.scan_id in (
       select scan_id from ingest.scan where scanned_for = $1 and observed_at >= $2 and observed_at < $3
       union all select scan_id from ingest.scan_page where social_page_id = any($4::text[]))
     order by s.observed_at, s.scan_id`,
    [brandId, day, `${day}~`, pageIds],
  );
  return rows.map(({ page_ids, ...scan }) => ({ ...scan, pageIds: new Set(page_ids) }));
};

type LoggedRow = {
  readonly scan_id: string;
  readonly scanned_for: string;
  readonly observed_at: string;
  readonly complete: boolean;
  readonly countries: readonly string[];
  readonly collector: string;
  readonly page_ids: readonly string[];
  readonly partial_pages: readonly string[] | null;
  readonly differences: readonly string[] | null;
  readonly totals: ScanTotals | null;
  readonly reliable: boolean | null;
  readonly chronological: boolean | null;
  readonly corrected_by: readonly (string | null)[];
  readonly no_look: boolean | null;
};

export type BrandScan = ReplayScan & {
  readonly reliable: boolean;
  /** False when the totals do not hold for the scan's own time. */
  readonly chronological: boolean;
  /** A correction found that the scan had not looked at the brand. */
  readonly noLook: boolean;
  /** Late observations that recorded or corrected the totals. */
  readonly corrected_by: readonly (string | null)[];
};

export const scannedForOf = (scans: readonly BrandScan[]): readonly string[] => [
  ...new Set(scans.map(({ header }) => header.scanned_for)),
];

const brandScanOf = (brandId: string, row: LoggedRow): BrandScan => {
  const pageIds = new Set(row.page_ids);
  // A scan outside the brand's stream showed none of its ads, so it implies no sighting.
  const partialPages = row.partial_pages === null ? pageIds : new Set(row.partial_pages);
  const { scan_id, observed_at, complete, scanned_for, countries, collector } = row;
  return {
    scan_id,
    observed_at,
    complete,
    pageIds,
    partialPages,
    recorded: row.totals !== null,
    differences: row.differences ?? [],
    totals: row.totals,
    reliable: row.reliable ?? false,
    chronological: row.chronological ?? false,
    noLook: row.no_look ?? false,
    corrected_by: row.corrected_by,
    header: {
      scan_id,
      brand_id: brandId,
      scanned_for,
      scanned_at: observed_at,
      complete,
      countries,
      collector,
      pages: row.page_ids.map((page_id) => ({ page_id, page_name: null })),
      pageIds,
      partialPages,
      isHistory: false,
    },
  };
};

/**
 * Scans of the brand's stream, complete ones of the pages, and `alsoIds`, in the order of observation, without
 * `scanId`. Each has the given pages only.
 */
export const scansOfBrand = async (
  database: Database,
  brandId: string,
  scanId: string | null,
  pageIds: readonly string[],
  alsoIds: readonly string[] = [],
): Promise<readonly BrandScan[]> => {
  const { rows } = await database.query<LoggedRow>(
    `select s.scan_id, s.scanned_for, s.observed_at, s.complete, s.countries, s.collector,
       r.partial_pages, r.differences, r.totals, r.reliable, r.chronological, r.no_look,
       coalesce(r.causes, array[r.corrected_by]) as corrected_by,
       array(select social_page_id from ingest.scan_page p
         where p.scan_id = s.scan_id and p.social_page_id = any($3::text[]) order by 1) as page_ids
     from ingest.scan s left join ingest.recorded_scan r on r.scan_id = s.scan_id and r.brand_id = $1
     where s.scan_id is distinct from $2 and (r.brand_id is not null or s.complete or s.scan_id = any($4::uuid[])) and s.scan_id in (
       select scan_id from ingest.recorded_scan where brand_id = $1
       union select scan_id from ingest.scan_page where social_page_id = any($3::text[])
       union select unnest($4::uuid[]))
     order by s.observed_at, s.scan_id`,
    [brandId, scanId, pageIds, alsoIds],
  );
  return rows.map((row) => brandScanOf(brandId, row));
};
