import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import {
  LATE_DAYS_MAX,
  type LateScan,
  closeLateScan,
  correctAds,
  differencesWith,
  emptyLateTotals,
  hasSeveralCollectors,
  tallyAgain,
} from '#domain/corpus/ad-library/late-scan.ts';
import type { ScanTallies } from '#domain/corpus/ad-library/replay.ts';
import { handleCommand, SCAN_CONFLICTS } from '#application/commands/command-handler.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Deciding } from '../../attribution/known-brands.ts';
import {
  adIdsOfCause,
  brandsOfCause,
  extentOfCause,
  forgetCause,
  type LateCause,
  notedCause,
  type NotedCause,
} from '../../attribution/late-cause.ts';
import { movesOfBrand } from '../../attribution/move-log.ts';
import { pagesOfBrand } from '../chunk-staging.ts';
import { causeAsScan } from './cause-as-scan.ts';
import { searchesBeside } from './lateness.ts';
import { loadAds, type OpenLibrary } from '../library-store.ts';
import { createLibraryStateStore } from '../library-state-store.ts';
import {
  adsToDecideAgain,
  looksWithLateScan,
  namesLinkedPage,
  reliabilityOfNewLooks,
} from './recorded-looks.ts';
import { type BrandScan, firstMeetings, linksOf, scannedForOf, scansOfBrand } from '../scan-log.ts';
import { extentOfSharedAds, shareAds, sharedAdIds } from './shared-ads.ts';

/** Decided as a late scan that shows nothing: only the brands of the ads differ (rules 10, 11). */

const decidingOf = ({ id, observedAt, brandId, about, registeredBefore }: NotedCause): Deciding => ({
  scan_id: id,
  observed_at: observedAt,
  scannedFor: null,
  ...('pageId' in about ? { link: { page_id: about.pageId, brand_id: brandId } } : {}),
  ...('pageId' in about && about.registers === null
    ? {}
    : { registration: { brand_id: brandId, before: registeredBefore } }),
});

type CauseSlice = { readonly adIds: readonly string[]; readonly isPlain: boolean };

const decideForBrand = async function* (
  database: Database,
  library: OpenLibrary,
  cause: NotedCause,
): AsyncGenerator<readonly AdLibraryEvent[]> {
  const { brandId } = library;
  const links = await linksOf(database, brandId);
  const extents = [await extentOfCause(database, cause), await extentOfSharedAds(database, brandId, [])];
  const pageIds = [
    ...new Set([
      ...extents.flatMap((extent) => extent.pageIds),
      ...(await pagesOfBrand(database, brandId)),
      ...links.map(({ page_id }) => page_id),
    ]),
  ];
  const ofAds = extents.flatMap((extent) => extent.scanIds);
  const scanIds = [...ofAds, ...(await searchesBeside(database, brandId, brandId, ofAds))];
  const scans = await scansOfBrand(database, brandId, null, pageIds, scanIds);
  const metAt = await firstMeetings(database, scannedForOf(scans), pageIds);
  const recordedAs = {
    scan: causeAsScan(cause, brandId),
    scans,
    metAt,
    shownPages: [],
    moves: [],
  } satisfies LateScan;
  const sums = emptyLateTotals();
  const unsettled = new Set<string>();
  const ofCause = new Set<string>();
  /** Ads of the cause and those shared with others, or all ads of the brand. */
  const slices = async function* (isWhole: boolean): AsyncGenerator<CauseSlice> {
    for await (const adIds of adIdsOfCause(database, cause)) {
      for (const adId of adIds) ofCause.add(adId);
      yield { adIds, isPlain: false };
    }
    const others = (adIds: readonly string[]) => adIds.filter((adId) => !ofCause.has(adId));
    // The brand's other shared ads stay, and may be why scans looked at it.
    for await (const adIds of sharedAdIds(database, brandId, cause.id))
      yield { adIds: others(adIds), isPlain: false };
    if (!isWhole) return;
    for await (const adIds of adsToDecideAgain(database, brandId, recordedAs.scan.header, { isWhole }))
      yield { adIds: others(adIds), isPlain: true };
  };
  const load = async ({ adIds, isPlain }: CauseSlice) => {
    await loadAds(database, library, adIds);
    const shared = await shareAds(database, recordedAs, isPlain ? [] : adIds, {
      deciding: decidingOf(cause),
    });
    const decided = adIds.filter(
      (adId) => !shared.unsettled.has(adId) && (shared.ads.has(adId) || library.state.ads.has(adId)),
    );
    return { shared, decided };
  };
  let differences: ReadonlyMap<string, readonly string[]> = new Map();
  if (hasSeveralCollectors(recordedAs)) {
    const tallies: ScanTallies = new Map();
    for await (const slice of slices(true)) {
      const { shared, decided } = await load(slice);
      tallyAgain(recordedAs, decided, new Map(), tallies, shared)(library.state);
      library.state.ads.clear();
    }
    differences = differencesWith(recordedAs, tallies);
  }
  const late = { ...recordedAs, differences };
  for await (const slice of slices(differences.size > 0)) {
    const { shared, decided } = await load(slice);
    for (const adId of shared.unsettled) unsettled.add(adId);
    yield correctAds(late, decided, new Map(), sums, shared)(library.state);
  }
  const ended = { ...late, moves: await movesOfBrand(database, brandId, [...unsettled]) };
  const looks = await looksWithLateScan(database, library, ended, sums, { links, isOwn: false });
  const isOfAds = ({ scan_id: id }: BrandScan): boolean =>
    sums.concerned.has(id) || sums.wasConcerned.has(id);
  const newest = scans.at(-1)?.observed_at ?? cause.observedAt;
  const since = new Date(Date.parse(newest) - LATE_DAYS_MAX * DAY_MS).toISOString();
  const recorded = new Map(scans.map((scan) => [scan.scan_id, scan]));
  const reliable = reliabilityOfNewLooks(brandId, links, scans);
  const allLooks = new Set(
    scans.flatMap((scan) => {
      const isLook =
        scan.totals === null
          ? looks.has(scan.scan_id) || (scan.observed_at >= since && namesLinkedPage(links, scan))
          : // `correctReliability` judges recorded scans that only the link concerns.
            isOfAds(scan)
            ? looks.has(scan.scan_id)
            : !scan.noLook;
      return isLook ? [scan.scan_id] : [];
    }),
  );
  yield closeLateScan(ended, { seen: 0, looks: allLooks, reliable, recorded }, sums)(library.state);
};

/** Decides an observation noted as late for each brand of its ads. Returns the number of events. Safe to repeat. */
export const decideAgain = async (
  database: Database,
  eventStore: EventStore,
  cause: LateCause,
): Promise<number> => {
  const noted = await notedCause(database, cause);
  if (noted === null) return 0;
  let events = 0;
  for (const brandId of await brandsOfCause(database, noted)) {
    const store = createLibraryStateStore(database, eventStore, brandId, noted.id);
    const decide = (library: OpenLibrary) => decideForBrand(database, library, noted);
    await handleCommand({ store, decide, conflicts: SCAN_CONFLICTS });
    events += store.appended();
  }
  await forgetCause(database, noted);
  return events;
};
