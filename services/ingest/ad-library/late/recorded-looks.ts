import type { BrandMoves } from '#domain/corpus/ad-library/contributions.ts';
import type { LateScan, LateTotals } from '#domain/corpus/ad-library/late-scan.ts';
import { type LinkPeriod, pagesLinkedAt, reliableScans } from '#domain/corpus/ad-library/reliability.ts';
import { insertScan, replayAds, type ReplayScan } from '#domain/corpus/ad-library/replay.ts';
import type { ScanHeader } from '#domain/corpus/ad-library/scan.ts';
import { NO_PAGE } from '#domain/corpus/ad-library/state.ts';
import { expandLooks } from '#domain/corpus/ad-library/timeline.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { destinationsUnder } from '../../attribution/brand-of-ad.ts';
import { loadAds, type OpenLibrary } from '../library-store.ts';
import type { BrandScan } from '../scan-log.ts';

/** Scans looked at a brand if made for it, showing its ad, or complete and naming a page of it or of its live ads. */

type DecidedAgain = {
  readonly metSooner?: ReadonlySet<string>;
  readonly domain?: string | null;
  readonly isWhole?: boolean;
};

/**
 * Slices of ids: ads on the scan's pages, on pages met sooner, or from scans for the same brand (rule 3). Leaves out
 * staged ads, ads that ever moved (`sharedAdIds`) and those of `domain`.
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

const hasOwnReason = (
  brandId: string,
  links: readonly LinkPeriod[],
  scan: BrandScan,
  moreSeen = 0,
): boolean =>
  scan.header.scanned_for === brandId ||
  (scan.totals?.seen ?? 0) + moreSeen > 0 ||
  namesLinkedPage(links, scan);

export const namesLinkedPage = (
  links: readonly LinkPeriod[],
  { complete, observed_at, pageIds }: BrandScan,
): boolean => complete && pagesLinkedAt(links, observed_at).some((pageId) => pageIds.has(pageId));

/** Replays the ads, because recorded states lack the late observation. Leaves out ads of `scanId` and decided ones. */
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
 * A recorded look stays, unless no ad of its pages was live by the late scan. `isOwn`: the late scan looked at the
 * brand.
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

/** By scan id, outside the brand's stream (rule 9): a late observation may add these scans as looks. */
export const reliabilityOfNewLooks = (
  brandId: string,
  links: readonly LinkPeriod[],
  scans: readonly BrandScan[],
): ReadonlyMap<string, boolean> => {
  const complete = scans.filter((scan) => scan.complete).map((scan) => ({ ...scan.header, ...scan }));
  const recorded = new Set(scans.flatMap(({ scan_id, totals }) => (totals === null ? [] : [scan_id])));
  return new Map([...reliableScans(brandId, links, complete)].filter(([scanId]) => !recorded.has(scanId)));
};

/** `since`: scans from this time on are judged again. */
type JudgedLink = {
  readonly pageId: string;
  readonly since: string;
  readonly causeId: string;
  readonly ofSharedAds: ReadonlySet<string>;
  readonly moves: readonly BrandMoves[];
};

/**
 * Judges complete scans of the link's page since the last move again; earlier ones stay looks, because a live ad may
 * have left. `scans` has all pages of the brand.
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
