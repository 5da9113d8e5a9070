import type { BrandMoves } from '#domain/corpus/ad-library/contributions.ts';
import type { LateScan, LateTotals } from '#domain/corpus/ad-library/late/replay-both.ts';
import { type LinkPeriod, pagesLinkedAt, reliableScans } from '#domain/corpus/ad-library/reliability.ts';
import { insertScan, replayAds, type ReplayScan } from '#domain/corpus/ad-library/replay.ts';
import type { ScanHeader } from '#domain/corpus/ad-library/scan.ts';
import { NO_PAGE } from '#domain/corpus/ad-library/state.ts';
import { expandLooks } from '#domain/corpus/ad-library/timeline.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { destinationsUnder } from '../../attribution/brand-of-ad.ts';
import { loadAds, type OpenLibrary } from '../library-store.ts';
import type { BrandScan } from '../scan-log.ts';

/**
 * Judges which recorded scans looked at a brand. They were made for it, showed an ad of it, or are complete and named
 * a page that was linked to it or had a live ad of it. A late link or scan may remove the reason.
 */

/** Says which ads a late observation concerns, apart from those on its pages. */
type DecidedAgain = {
  /** Pages that the scan meets before all recorded ones. */
  readonly metSooner?: ReadonlySet<string>;
  /** The domain that the scan registers. */
  readonly domain?: string | null;
  /** True for all ads of the brand. */
  readonly isWhole?: boolean;
};

/**
 * Yields the brand's ads that a late scan may concern, in slices of ids: those on its pages and on pages that it meets
 * sooner, and, if it is a look at unnamed pages, those that scans for the same brand showed first (rule 3). Staged ads of the
 * scan are left out, and so are ads that ever moved between brands: `sharedAdIds` yields those. So are ads that lead to `domain` or led to it once.
 */
export const adsToDecideAgain = async function* (
  database: Database,
  brandId: string,
  scan: Pick<ScanHeader, 'scan_id' | 'scanned_for' | 'complete' | 'pageIds'>,
  { metSooner = new Set(), domain = null, isWhole = false }: DecidedAgain = {},
): AsyncGenerator<readonly string[]> {
  const SLICE_ADS = 500;
  const destinations = domain === null ? null : destinationsUnder(domain);
  for (let after = ''; ; ) {
    const { rows } = await database.query<{ ad_id: string }>(
      `select ad_id from ingest.ad a
       where brand_id = $1 and ad_id > $4 and (social_page_id = any($2::text[]) or $5::boolean
           or ($6::boolean and exists (select from ingest.scan first
             where first.scan_id = (a.known->'looks'->0->>'scan_id')::uuid and first.scanned_for = $7)))
         and not a.known ? 'placings' and not exists (select from ingest.ad_move m where m.ad_id = a.ad_id)
         and not exists (select from ingest.staged_ad s where s.scan_id = $3 and s.ad_id = a.ad_id)
         and not coalesce((destination >= $8 and destination < $9) or former_domains @> array[$10::text], false)
       order by ad_id limit ${SLICE_ADS}`,
      [
        brandId,
        [...scan.pageIds, ...metSooner],
        scan.scan_id,
        after,
        isWhole || (scan.complete && scan.scanned_for === brandId),
        scan.complete || metSooner.has(NO_PAGE),
        scan.scanned_for,
        destinations?.from ?? null,
        destinations?.until ?? null,
        domain,
      ],
    );
    if (rows.length > 0) yield rows.map(({ ad_id }) => ad_id);
    if (rows.length < SLICE_ADS) return;
    after = rows.at(-1)?.ad_id ?? after;
  }
};

/** True when the scan was made for the brand, showed an ad of it, or is complete and named a page linked to it then. */
const hasOwnReason = (
  brandId: string,
  links: readonly LinkPeriod[],
  scan: BrandScan,
  moreSeen = 0,
): boolean =>
  scan.header.scanned_for === brandId ||
  (scan.totals?.seen ?? 0) + moreSeen > 0 ||
  namesLinkedPage(links, scan);

/** True for a complete scan that named a page which was linked to the brand then. */
export const namesLinkedPage = (
  links: readonly LinkPeriod[],
  { complete, observed_at, pageIds }: BrandScan,
): boolean => complete && pagesLinkedAt(links, observed_at).some((pageId) => pageIds.has(pageId));

/**
 * Returns the ids of the complete scans that named one of these pages while an ad of the brand was live on it. Replays
 * the ads of the pages over the scans, without the ads that the scan `scanId` staged and those that are decided already:
 * their recorded states do not have the late observation.
 */
const scansWithLiveAds = async (
  database: Database,
  library: OpenLibrary,
  scans: readonly ReplayScan[],
  {
    scanId,
    pageIds,
    decided = new Set(),
  }: {
    readonly scanId: string;
    readonly pageIds: ReadonlySet<string>;
    readonly decided?: ReadonlySet<string>;
  },
): Promise<ReadonlySet<string>> => {
  const { state, brandId } = library;
  const found = new Set<string>();
  if (pageIds.size === 0) return found;
  const onPages = { scan_id: scanId, scanned_for: brandId, complete: false, pageIds };
  for await (const adIds of adsToDecideAgain(database, brandId, onPages)) {
    state.ads.clear();
    await loadAds(
      database,
      library,
      adIds.filter((adId) => !decided.has(adId)),
    );
    const looks = new Map([...state.ads].map(([adId, ad]) => [adId, expandLooks(ad.looks, scans)]));
    for (const id of replayAds(scans, looks, new Map()).concerned) found.add(id);
  }
  state.ads.clear();
  return found;
};

const pagesOf = (scans: readonly BrandScan[]): ReadonlySet<string> =>
  new Set(scans.flatMap(({ pageIds }) => [...pageIds]));

/**
 * Returns the ids of the scans that looked at the brand, by what a late scan shows. A recorded look stays one, unless the
 * late scan shows that no ad of its pages was live. `isOwn`: the late scan itself looked at the brand.
 */
export const looksWithLateScan = async (
  database: Database,
  library: OpenLibrary,
  { scan, scans, moves }: LateScan & { readonly scans: readonly BrandScan[] },
  { concerned, wasConcerned, seenBefore, seenAfter, decided }: LateTotals,
  { links, isOwn }: { readonly links: readonly LinkPeriod[]; readonly isOwn: boolean },
): Promise<ReadonlySet<string>> => {
  const looks = new Set(concerned);
  const lastMove = moves.at(-1)?.observed_at ?? '';
  if (isOwn) looks.add(scan.scan_id);
  const doubtful: BrandScan[] = [];
  for (const one of scans) {
    if (looks.has(one.scan_id) || one.totals === null) continue;
    const more = (seenAfter.get(one.scan_id) ?? 0) - (seenBefore.get(one.scan_id) ?? 0);
    if (hasOwnReason(library.brandId, links, one, more)) looks.add(one.scan_id);
    else if (one.noLook) continue;
    else if (wasConcerned.has(one.scan_id) && one.observed_at > lastMove) doubtful.push(one);
    else looks.add(one.scan_id);
  }
  // The ads of the late scan's pages are decided already.
  const isAllDecided = scan.complete && scan.header.scanned_for === library.brandId;
  const pageIds = isAllDecided ? new Set<string>() : pagesOf(doubtful).difference(scan.pageIds);
  const all = insertScan(scans, scan);
  const live = await scansWithLiveAds(database, library, all, { scanId: scan.scan_id, pageIds, decided });
  for (const { scan_id } of doubtful) if (live.has(scan_id)) looks.add(scan_id);
  return looks;
};

/**
 * Returns the reliability of the days of complete scans that the brand's stream does not hold, by scan id (rule 9): a late
 * observation may make them looks at the brand.
 */
export const reliabilityOfNewLooks = (
  brandId: string,
  links: readonly LinkPeriod[],
  scans: readonly BrandScan[],
): ReadonlyMap<string, boolean> => {
  const complete = scans.filter((scan) => scan.complete).map((scan) => ({ ...scan.header, ...scan }));
  const recorded = new Set(scans.flatMap(({ scan_id, totals }) => (totals === null ? [] : [scan_id])));
  return new Map([...reliableScans(brandId, links, complete)].filter(([scanId]) => !recorded.has(scanId)));
};

/** An observed link, and the time since when scans are judged again. */
type JudgedLink = {
  readonly pageId: string;
  readonly since: string;
  readonly causeId: string;
  /** Scans that looked at the brand for its ads that belong to other brands too in the course of time. */
  readonly ofSharedAds: ReadonlySet<string>;
  /** Moves of ads that are not decided again. */
  readonly moves: readonly BrandMoves[];
};

/**
 * Returns the ids of the recorded scans that looked at the brand, by what is known of its links. Only complete scans since
 * a time that named the page of the observed link are judged again; those until the last of the moves stay looks,
 * since an ad that was live on the page may have left. `scans` has all pages of the brand.
 */
export const looksWithLink = async (
  database: Database,
  library: OpenLibrary,
  scans: readonly BrandScan[],
  links: readonly LinkPeriod[],
  { pageId, since, causeId, ofSharedAds, moves }: JudgedLink,
): Promise<ReadonlySet<string>> => {
  const looks = new Set<string>();
  const doubtful: BrandScan[] = [];
  const lastMove = moves.at(-1)?.observed_at ?? '';
  for (const scan of scans) {
    if (scan.totals === null) continue;
    if (hasOwnReason(library.brandId, links, scan)) looks.add(scan.scan_id);
    else if (ofSharedAds.has(scan.scan_id)) looks.add(scan.scan_id);
    else if (scan.noLook) continue;
    else if (
      scan.complete &&
      scan.observed_at >= since &&
      scan.observed_at > lastMove &&
      scan.pageIds.has(pageId)
    )
      doubtful.push(scan);
    else looks.add(scan.scan_id);
  }
  const of = { scanId: causeId, pageIds: pagesOf(doubtful) };
  const live = await scansWithLiveAds(database, library, scans, of);
  for (const { scan_id } of doubtful) if (live.has(scan_id)) looks.add(scan_id);
  return looks;
};
