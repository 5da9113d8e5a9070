import type { AdLibraryScanEnd } from '#contracts/observations/ad-library-scan.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import { LATE_DAYS_MAX } from '#domain/corpus/ad-library/late-scan.ts';
import { NO_PAGE } from '#domain/corpus/ad-library/state.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { brandsOfPages } from '../chunk-staging.ts';
import { firstMeetings, type ScanTime } from '../scan-log.ts';
import { brandsOfAdsFirstShownFor, formerBrandsOfPages } from './shared-ads.ts';

/** Whether a scan arrives after later ones (rule 11). */

export type Lateness = 'in_order' | 'late' | 'history';

/**
 * Times after `$2` at which an ad joined or left the brands `$1`; a late scan may imply such a change without an event.
 */
const CHANGED_BRANDS = `
  select c.at from ingest.ad a cross join lateral (
    select p->>'observed_at' collate "C" as at, p->>'brand_id' as to_id, lag(p->>'brand_id') over (order by n) as from_id
    from jsonb_array_elements(a.known->'placings') with ordinality e(p, n)
  ) c
  where a.known ? 'brands' and a.known->'brands' ?| ($1::uuid[])::text[]
    and ((a.known->'placings'->-1->>'observed_at') collate "C") > $2
    and c.at > $2 and (c.to_id = any(($1::uuid[])::text[]) or c.from_id = any(($1::uuid[])::text[]))`;

/** `late`: decided again in the order of observation. `history`: too old for that (rule 11). */
export const latenessOf = (
  database: Database,
  brandId: string,
  scan: ScanTime,
  pageIds: readonly string[],
): Promise<Lateness> => latenessForAny(database, [brandId], scan, pageIds);

export const latenessForAny = async (
  database: Database,
  brandIds: readonly string[],
  { scan_id, scanned_at }: ScanTime,
  pageIds: readonly string[],
): Promise<Lateness> => {
  const { rows } = await database.query<{ newest: string | null }>({
    name: 'ingest_lateness',
    text: `
      select max(observed_at) as newest from (
        select s.observed_at from ingest.recorded_scan r join ingest.scan s using (scan_id)
        where r.brand_id = any($1::uuid[]) and (s.observed_at, s.scan_id) > ($2, $3::uuid)
        union all
        select s.observed_at from ingest.scan_page p join ingest.scan s using (scan_id)
        where p.social_page_id = any($4::text[]) and s.complete and (s.observed_at, s.scan_id) > ($2, $3::uuid)
        union all
        select max(observed_at) from ingest.ad_move where from_brand_id = any($1::uuid[]) and observed_at > $2
        union all
        select max(observed_at) from ingest.ad_move where to_brand_id = any($1::uuid[]) and observed_at > $2
        union all
        select max(at) from (${CHANGED_BRANDS}) changed
      ) later`,
    values: [brandIds, scanned_at, scan_id, pageIds],
  });
  const newest = rows[0]?.newest ?? null;
  if (newest === null) return 'in_order';
  return Date.parse(newest) - Date.parse(scanned_at) > LATE_DAYS_MAX * DAY_MS ? 'history' : 'late';
};

export const hasScans = async (database: Database, brandId: string): Promise<boolean> => {
  const { rows } = await database.query({
    name: 'ingest_has_scans',
    text: 'select from ingest.recorded_scan where brand_id = $1 and not no_look limit 1',
    values: [brandId],
  });
  return rows.length > 0;
};

export const hasScanOfSameTime = async (
  database: Database,
  brandId: string,
  { scan_id, scanned_at }: ScanTime,
): Promise<boolean> => {
  const { rows } = await database.query({
    name: 'ingest_has_scan_of_same_time',
    text: `select from ingest.recorded_scan r join ingest.scan s using (scan_id)
           where r.brand_id = $1 and s.observed_at = $2 and s.scan_id <> $3 limit 1`,
    values: [brandId, scanned_at, scan_id],
  });
  return rows.length > 0;
};

export const isLateForAny = async (
  database: Database,
  brandIds: readonly string[],
  { scan_id, scanned_at }: ScanTime,
  pageIds: readonly string[],
): Promise<boolean> => {
  const { rows } = await database.query({
    name: 'ingest_is_late_for_any',
    text: `
      select from ingest.recorded_scan r join ingest.scan s using (scan_id)
      where r.brand_id = any($1::uuid[]) and (s.observed_at, s.scan_id) > ($2, $3::uuid)
      union all
      select from ingest.scan_page p join ingest.scan s using (scan_id)
      where p.social_page_id = any($4::text[]) and s.complete and (s.observed_at, s.scan_id) > ($2, $3::uuid)
      union all select from ingest.ad_move where from_brand_id = any($1::uuid[]) and observed_at > $2
      union all select from ingest.ad_move where to_brand_id = any($1::uuid[]) and observed_at > $2
      union all select from (${CHANGED_BRANDS}) changed
      limit 1`,
    values: [brandIds, scanned_at, scan_id, pageIds],
  });
  return rows.length > 0;
};

/** Pages that the scan meets before all others, which changes novelty (rule 3). `NO_PAGE`: ads without a page. */
export const pagesMetSooner = (
  pageIds: Iterable<string>,
  metAt: ReadonlyMap<string, string>,
  { scanned_for, scanned_at }: { readonly scanned_for: string; readonly scanned_at: string },
): ReadonlySet<string> =>
  new Set(
    [...pageIds].filter((pageId) => {
      const met = metAt.get(pageId === NO_PAGE ? scanned_for : pageId);
      return met !== undefined && met > scanned_at;
    }),
  );

/** Covers brands whose later scans are none of this scan's brands (rule 3). */
export const meetsPagesSooner = async (
  database: Database,
  { scan_id, scanned_at }: ScanTime,
  scannedFor: string,
  pageIds: readonly string[],
): Promise<boolean> => {
  const { rows } = await database.query<{ page_id: string }>({
    name: 'ingest_pages_without_earlier_scan',
    text: `
      select page_id from unnest($1::text[]) page_id
      where not exists (
        select from ingest.scan_page p join ingest.scan s using (scan_id)
        where p.social_page_id = page_id and s.scan_id <> $3::uuid and s.observed_at <= $2)`,
    values: [pageIds.filter((pageId) => pageId !== NO_PAGE), scanned_at, scan_id],
  });
  const pages = rows.map(({ page_id }) => page_id);
  if (pages.length === 0) return false;
  const metAt = await firstMeetings(database, [], pages, { scan_id, scanned_at });
  return pagesMetSooner(pages, metAt, { scanned_for: scannedFor, scanned_at }).size > 0;
};

/** Brands of ads on pages that the scan meets first, and of ads from scans for the same brand, wherever they moved. */
export const brandsOfLateScan = async (
  database: Database,
  { scan_id, scanned_at, coverage }: AdLibraryScanEnd,
  scannedFor: string,
  pageIds: readonly string[],
): Promise<readonly string[]> => {
  const metAt = await firstMeetings(database, [scannedFor], pageIds, { scan_id, scanned_at });
  const sooner = [...pagesMetSooner(pageIds, metAt, { scanned_for: scannedFor, scanned_at })];
  const { rows } = await database.query<{ brand_id: string }>(
    `select distinct brand_id from ingest.recorded_scan join ingest.scan using (scan_id)
     where scanned_for = $1 and $2::boolean`,
    [scannedFor, coverage.complete || sooner.includes(NO_PAGE)],
  );
  const searched = rows.map(({ brand_id }) => brand_id);
  return [
    ...searched,
    ...(await brandsOfAdsFirstShownFor(database, searched, scannedFor)),
    ...(await brandsOfPages(database, sooner)),
    ...(await formerBrandsOfPages(database, coverage.complete ? pageIds : sooner)),
  ];
};

/** Complete scans for other brands in the brand's stream, or for those of `scanIds` (rule 3). */
export const searchesBeside = async (
  database: Database,
  brandId: string,
  scannedFor: string,
  scanIds: readonly string[] = [],
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ scan_id: string }>(
    `select scan_id from ingest.scan where complete and scanned_for <> $1 and scanned_for in (
       select scanned_for from ingest.recorded_scan join ingest.scan using (scan_id) where brand_id = $1
       union select scanned_for from ingest.scan where scan_id = any($3::uuid[])
       union select $2::uuid)`,
    [brandId, scannedFor, scanIds],
  );
  return rows.map(({ scan_id }) => scan_id);
};
