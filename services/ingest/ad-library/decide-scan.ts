import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { ScanTotals } from '#contracts/events/corpus/ad-library-values.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { recordAbsences } from '#domain/corpus/ad-library/absences.ts';
import { recordScan, recordSightings } from '#domain/corpus/ad-library/decider.ts';
import {
  type CollectorSwitch,
  NO_SWITCH,
  byStoredLooks,
  collectorSwitch,
  emptyTally,
  repeatedDifferences,
  tallyDifferences,
} from '#domain/corpus/ad-library/collector-differences.ts';
import {
  type LateScan,
  closeHistoryScan,
  closeLateScan,
  correctAds,
  differencesWith,
  emptyLateTotals,
  hasSeveralCollectors,
  tallyAgain,
} from '#domain/corpus/ad-library/late-scan.ts';
import type { ScanTallies } from '#domain/corpus/ad-library/replay.ts';
import { type LinkPeriod, pagesLinkedAt, reliableScans } from '#domain/corpus/ad-library/reliability.ts';
import type { ScanHeader } from '#domain/corpus/ad-library/scan.ts';
import { lastSeenAt, NO_PAGE } from '#domain/corpus/ad-library/state.ts';
import { compareScans } from '#domain/corpus/ad-library/timeline.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { absentAdIds, hasLiveAds, pagesOfBrand, pagesWithAdsElsewhere } from './chunk-staging.ts';
import { coverageKey, pagesOfStagedAds, type Selection, type StagedAds, stagedAds } from './staged-ads.ts';
import { hasScanOfSameTime, hasScans, latenessOf, pagesMetSooner, searchesBeside } from './late/lateness.ts';
import { adsMovedBefore, extentOfSharedAds, type OwnedAd, shareAds, sharedAdIds } from './late/shared-ads.ts';
import { loadAds, type OpenLibrary } from './library-store.ts';
import { adsToDecideAgain, looksWithLateScan } from './late/recorded-looks.ts';
import { adsLeadingTo } from '../attribution/move-ads.ts';
import { movesOfBrand } from '../attribution/move-log.ts';
import {
  completeScansOfDay,
  firstMeetings,
  hasOtherCollector,
  linksOf,
  lookHistory,
  looksAfter,
  looksSince,
  scannedForOf,
  scansOfBrand,
} from './scan-log.ts';

/** The header does not yet say which pages it covers in part, and whether it is history. */
export type BrandPart = {
  readonly database: Database;
  readonly library: OpenLibrary;
  readonly header: ScanHeader;
  readonly chunks: readonly number[];
  readonly seen: number;
  /** Pages of recorded ads of the scan, where it shows another or none. */
  readonly knownPageIds: readonly string[];
  readonly isLeft: boolean;
  /** The scan was late for one of its brands before their locks were taken. */
  readonly isLate: boolean;
  /** The scan's ads that belong to this brand and others in the course of time. */
  readonly shared: ReadonlyMap<string, OwnedAd | null>;
  readonly domain: string | null;
  /** The scan shows ads as scans of the same coverage did; `null` when their brands may differ nevertheless. */
  readonly shownIn: string | null;
};

/** Later scans or moves were recorded meanwhile, so the scan must be judged again. */
export class BecameLate extends Error {
  constructor(scanId: string) {
    super(`later scans were recorded while scan ${scanId} was; it is decided again`);
    this.name = 'BecameLate';
  }
}

export type PartTotals = { totals: ScanTotals | null };

/** Slices of the brand's ads in the scan; their states are loaded. */
const loadStagedAds = async function* (
  { database, library, header, chunks }: BrandPart,
  unless: Selection['unless'] = null,
): AsyncGenerator<StagedAds> {
  const selection = { scanId: header.scan_id, chunks, brandId: library.brandId, unless };
  for await (const staged of stagedAds(database, selection)) {
    await loadAds(
      database,
      library,
      staged.ads.map(({ ad_id }) => ad_id),
    );
    yield staged;
  }
};

/** More ads are compared again by the next scan. */
const SHOWN_MAX = 20_000;

/** The next scan need not compare these ads, unless an event that is folded meanwhile changes them. */
const noteShown = ({ changed, state }: OpenLibrary, { rows }: StagedAds, coverage: string): void => {
  for (const [adId, { digest }] of rows) {
    if (digest === null || changed.shown.size >= SHOWN_MAX) continue;
    // An ad that moved is compared with what was known at each time (rule 10).
    if (state.ads.get(adId)?.brands === undefined) changed.shown.set(adId, `${digest}${coverage}`);
  }
};

type Extent = Awaited<ReturnType<typeof extentOfSharedAds>>;
const NO_EXTENT: Extent = { pageIds: [], scanIds: [] };

/**
 * Rule 6 needs the whole scan first. A resumed scan reuses the differences of its open events. `shared`: of the brand's
 * shared ads; `null` when no other collector scanned the brand.
 */
const findSwitch = async (part: BrandPart, shared: Extent | null): Promise<CollectorSwitch> => {
  const { database, library, header } = part;
  const { brandId, state } = library;
  if (shared === null) return NO_SWITCH;
  const pageIds = [...new Set([...shared.pageIds, ...(await pagesOfBrand(database, brandId))])];
  const recorded = await scansOfBrand(database, brandId, header.scan_id, pageIds, shared.scanIds);
  const own = { scan_id: header.scan_id, observed_at: header.scanned_at };
  const before = recorded.filter((scan) => compareScans(scan, own) < 0);
  const { open } = state;
  if (open?.scan_id === header.scan_id && open.differences.length > 0)
    return collectorSwitch(header, open.differences, before, byStoredLooks);
  const others = collectorSwitch(header, [], before, byStoredLooks);
  const tally = emptyTally();
  for await (const { ads } of loadStagedAds(part)) {
    tallyDifferences(others, ads, tally)(state);
    state.ads.clear();
  }
  return collectorSwitch(header, repeatedDifferences(tally), before, byStoredLooks);
};

const reliableScansOfDay = async (
  { database, library: { brandId }, header }: BrandPart,
  links: readonly LinkPeriod[],
): Promise<ReadonlyMap<string, boolean>> => {
  if (!header.complete) return new Map();
  const pageIds = links.map(({ page_id }) => page_id);
  const others = await completeScansOfDay(database, brandId, header.scanned_at, pageIds);
  return reliableScans(brandId, links, [...others, { ...header, observed_at: header.scanned_at }]);
};

const newPagesOf = ({ state }: OpenLibrary, ads: readonly ObservedAd[]): readonly string[] => [
  ...new Set(ads.filter(({ ad_id }) => !state.ads.has(ad_id)).map(({ page_id }) => page_id ?? NO_PAGE)),
];

const decideAbsences = async function* (
  database: Database,
  library: OpenLibrary,
  header: ScanHeader,
): AsyncGenerator<readonly AdLibraryEvent[]> {
  const { state, brandId } = library;
  for await (const adIds of absentAdIds(database, header.scan_id, brandId, [...header.pageIds])) {
    await loadAds(database, library, adIds);
    const ads = [...state.ads.values()];
    const pageIds = [...new Set(ads.map(({ page_id }) => page_id ?? NO_PAGE))];
    const since = ads
      .map((ad) => lastSeenAt(ad, state.pages.get(ad.page_id ?? NO_PAGE)))
      .reduce((a, b) => (a < b ? a : b), header.scanned_at);
    const looks = await looksSince(database, header, pageIds, since);
    yield recordAbsences(header, adIds, looks)(state);
  }
};

const decideInOrder = async function* (
  part: BrandPart,
  links: readonly LinkPeriod[],
  totals: PartTotals,
  ofSeveral: Extent | null,
): AsyncGenerator<readonly AdLibraryEvent[]> {
  const { database, library, header, seen } = part;
  const switched = await findSwitch(part, ofSeveral);
  const covered = header.complete ? [...header.pageIds.difference(header.partialPages)] : [];
  const isComparable = part.shownIn !== null && switched === NO_SWITCH && covered.length > 0;
  const unless = isComparable ? { shownIn: part.shownIn, pageIds: covered } : null;
  for await (const staged of seen > 0 ? loadStagedAds(part, unless) : []) {
    const { ads } = staged;
    const history = await lookHistory(database, header, newPagesOf(library, ads));
    const events = recordSightings(header, ads, switched, history)(library.state);
    noteShown(library, staged, coverageKey(header.countries));
    yield events;
  }
  if (header.complete) yield* decideAbsences(database, library, header);
  const [history, ofDay] = await Promise.all([
    lookHistory(database, header, [...header.pageIds]),
    reliableScansOfDay(part, links),
  ]);
  const reliable = ofDay.get(header.scan_id) ?? false;
  const end = { seen, reliable, late: false, differences: switched.differences };
  const closing = recordScan(header, end, history)(library.state);
  totals.totals = closing[0]?.data.totals ?? null;
  yield closing;
};

/** A scan too old to be decided again adds its unknown ads and its day (rule 11). */
const decideHistory = async function* (
  part: BrandPart,
  links: readonly LinkPeriod[],
  totals: PartTotals,
): AsyncGenerator<readonly AdLibraryEvent[]> {
  const { database, library, seen } = part;
  const { brandId } = library;
  const scans = await scansOfBrand(database, brandId, part.header.scan_id, []);
  const newest = scans.findLast(({ recorded, noLook }) => recorded && !noLook);
  const header = { ...part.header, ...(newest ? { countedSince: newest.observed_at } : {}) };
  for await (const { ads } of seen > 0 ? loadStagedAds(part) : []) {
    const looks = await looksAfter(database, header, [
      ...new Set(ads.map(({ page_id }) => page_id ?? NO_PAGE)),
    ]);
    yield recordSightings(header, ads, NO_SWITCH, looks)(library.state);
  }
  const history = await lookHistory(database, header, [...header.pageIds]);
  const reliable = (await reliableScansOfDay(part, links)).get(header.scan_id) ?? false;
  const end = { seen, reliable, late: true };
  const moves = await movesOfBrand(database, brandId);
  const closing = closeHistoryScan(header, end, history, scans, moves)(library.state);
  totals.totals = closing.at(-1)?.data.totals ?? null;
  yield closing;
};

type LateSlice = {
  readonly ads: readonly ObservedAd[];
  readonly adIds: readonly string[];
  readonly ownIds: ReadonlySet<string>;
  readonly isPlain: boolean;
};

/** Decides the brand's ads again in the order of observation (rule 11). */
const decideLate = async function* (
  part: BrandPart,
  links: readonly LinkPeriod[],
  totals: PartTotals,
): AsyncGenerator<readonly AdLibraryEvent[]> {
  const { database, library, header, chunks, shared } = part;
  const { brandId } = library;
  const extent = await extentOfSharedAds(database, brandId, [...shared.keys()]);
  const pageIds = [
    ...new Set([
      ...extent.pageIds,
      ...(await pagesOfBrand(database, brandId)),
      ...(await pagesOfStagedAds(database, header.scan_id, shared.size === 0 ? brandId : null)),
      ...header.pageIds,
      ...links.map(({ page_id }) => page_id),
    ]),
  ];
  const searches = await searchesBeside(database, brandId, header.scanned_for, extent.scanIds);
  const scans = await scansOfBrand(database, brandId, header.scan_id, pageIds, [
    ...extent.scanIds,
    ...searches,
  ]);
  const { scan_id, scanned_at: observed_at, complete, partialPages } = header;
  const own = { scan_id, observed_at, complete, pageIds: header.pageIds, partialPages, recorded: true };
  const recordedAs = {
    scan: { ...own, header, differences: [], totals: null },
    scans,
    metAt: await firstMeetings(database, [...scannedForOf(scans), header.scanned_for], pageIds, header),
    shownPages: await pagesOfStagedAds(database, header.scan_id, null),
    moves: [],
  } satisfies LateScan;
  const deciding = { scan_id, observed_at, scannedFor: header.scanned_for };
  const sums = emptyLateTotals();
  const { shownPages, metAt } = recordedAs;
  const registered = part.domain === null ? null : { domain: part.domain, exceptScanId: header.scan_id };
  const metSooner = pagesMetSooner(shownPages, metAt, header);
  const noAds: readonly ObservedAd[] = [];
  const nothing: ReadonlySet<string> = new Set();
  const slices = async function* (isWhole: boolean): AsyncGenerator<LateSlice> {
    const slice = { ads: noAds, ownIds: nothing, isPlain: false };
    for (const chunk of chunks) {
      const select = async (selected: Pick<Selection, 'brandId'>): Promise<readonly ObservedAd[]> => {
        const found: ObservedAd[] = [];
        const selection = { scanId: header.scan_id, chunks: [chunk], ...selected };
        for await (const { ads } of stagedAds(database, selection)) found.push(...ads);
        return found;
      };
      const owned = await select({ brandId });
      const ownIds = new Set(owned.map(({ ad_id }) => ad_id));
      const others =
        shared.size === 0
          ? []
          : (await select({})).filter(({ ad_id }) => shared.has(ad_id) && !ownIds.has(ad_id));
      const all = [...owned, ...others];
      const moved = await adsMovedBefore(
        database,
        all.map(({ ad_id }) => ad_id),
      );
      const ads = all.filter(({ ad_id }) => !moved.has(ad_id));
      yield { ads, adIds: ads.map(({ ad_id }) => ad_id), ownIds, isPlain: false };
    }
    for await (const adIds of sharedAdIds(database, brandId, header.scan_id)) yield { ...slice, adIds };
    if (registered)
      for await (const adIds of adsLeadingTo(database, brandId, registered)) yield { ...slice, adIds };
    const scope = { metSooner, domain: part.domain, isWhole };
    for await (const adIds of adsToDecideAgain(database, brandId, header, scope))
      yield { ...slice, adIds, isPlain: true };
  };
  const load = async ({ ads, adIds, ownIds, isPlain }: LateSlice) => {
    await loadAds(database, library, adIds);
    const shown = new Map(ads.map((ad) => [ad.ad_id, ad]));
    const ofSeveral = await shareAds(database, recordedAs, isPlain ? [] : adIds, {
      deciding,
      shown,
      isOwn: (adId) => ownIds.has(adId),
      unchanged: shared,
    });
    return { shown, ofSeveral, decided: adIds.filter((adId) => !ofSeveral.unsettled.has(adId)) };
  };
  const tallies: ScanTallies = new Map();
  const isTallied = part.seen > 0 || shared.size > 0 || registered !== null;
  if (isTallied && hasSeveralCollectors(recordedAs)) {
    for await (const slice of slices(true)) {
      const { shown, ofSeveral, decided } = await load(slice);
      tallyAgain(recordedAs, decided, shown, tallies, ofSeveral)(library.state);
      library.state.ads.clear();
    }
  }
  const differences = isTallied ? differencesWith(recordedAs, tallies) : new Map<string, readonly string[]>();
  const late = { ...recordedAs, differences };
  let seen = 0;
  const unsettled = new Set<string>();
  // Other differences concern all ads of later scans: some missed the scan that has them (rule 6).
  for await (const slice of slices(differences.size > 0)) {
    const { shown, ofSeveral, decided } = await load(slice);
    for (const adId of ofSeveral.unsettled) unsettled.add(adId);
    seen += decided.filter((adId) => shown.has(adId) && !ofSeveral.ads.has(adId)).length;
    yield correctAds(late, decided, shown, sums, ofSeveral)(library.state);
  }
  const reliable = await reliableScansOfDay(part, links);
  const recorded = new Map(scans.map((scan) => [scan.scan_id, scan]));
  const isLook = isOwn({ ...part, seen }, links);
  const ended = { ...late, moves: await movesOfBrand(database, brandId, [...unsettled]) };
  const looks = await looksWithLateScan(database, library, ended, sums, { links, isOwn: isLook });
  const end = { seen, looks, reliable, recorded };
  const closing = closeLateScan(ended, end, sums)(library.state);
  const last = closing.at(-1);
  totals.totals = last?.type === 'ScanRecorded' ? last.data.totals : null;
  yield closing;
};

/** Made for the brand, showed or took its ads, or complete and naming a linked page. */
const isOwn = ({ header, seen, isLeft, library }: BrandPart, links: readonly LinkPeriod[]): boolean =>
  header.scanned_for === library.brandId ||
  seen > 0 ||
  isLeft ||
  (header.complete && pagesLinkedAt(links, header.scanned_at).some((pageId) => header.pageIds.has(pageId)));

/** With another scan of the same time, all pages are partial: an ad that only that scan showed is not absent. */
const partialPagesOf = async (
  database: Database,
  brandId: string,
  header: ScanHeader,
): Promise<ReadonlySet<string>> => {
  const { complete, countries, pageIds } = header;
  if (!complete) return new Set();
  const nowhere: ReadonlySet<string> = new Set();
  const [isOfSameTime, elsewhere] = await Promise.all([
    hasScanOfSameTime(database, brandId, header),
    countries.includes('ALL') ? nowhere : pagesWithAdsElsewhere(database, brandId, [...pageIds], countries),
  ]);
  return isOfSameTime ? pageIds : elsewhere;
};

/** Yields events in groups, each folded before the next is decided. Yields nothing for a recorded scan. */
export const decideForBrand = async function* (
  part: BrandPart,
  totals: PartTotals,
): AsyncGenerator<readonly AdLibraryEvent[]> {
  const { database, library, header } = part;
  totals.totals = null;
  const { brandId } = library;
  const isShown = part.seen > 0 || part.shared.size > 0;
  const [recorded, ofShown, links, partialPages, shared] = await Promise.all([
    database.query('select from ingest.recorded_scan where scan_id = $1 and brand_id = $2', [
      header.scan_id,
      brandId,
    ]),
    isShown ? pagesOfStagedAds(database, header.scan_id, brandId) : [],
    linksOf(database, brandId),
    partialPagesOf(database, brandId, header),
    part.seen > 0 ? extentOfSharedAds(database, brandId, []) : NO_EXTENT,
  ]);
  if (recorded.rows.length > 0) return;
  const staged = isShown ? [...ofShown, ...part.knownPageIds] : [];
  const [judged, isOfSeveral] = await Promise.all([
    latenessOf(database, brandId, header, [...header.pageIds, ...staged]),
    part.seen > 0 && hasOtherCollector(database, brandId, header.collector, shared.scanIds),
  ]);
  // The first scan of a brand has no later scan whose totals could include its ads.
  const order = judged === 'history' && !(await hasScans(database, brandId)) ? 'late' : judged;
  if (order === 'late' && !part.isLate) throw new BecameLate(header.scan_id);
  const isAgain = part.shared.size > 0 || part.domain !== null;
  const lateness = order === 'in_order' && isAgain ? 'late' : order;
  const isConcerned =
    lateness === 'late' ||
    library.state.open?.scan_id === header.scan_id ||
    isOwn(part, links) ||
    (header.complete && (await hasLiveAds(database, brandId, [...header.pageIds])));
  if (!isConcerned) return;
  const own = { ...part, header: { ...header, partialPages, isHistory: lateness === 'history' } };
  if (lateness === 'in_order') yield* decideInOrder(own, links, totals, isOfSeveral ? shared : null);
  else yield* (lateness === 'late' ? decideLate : decideHistory)(own, links, totals);
};
