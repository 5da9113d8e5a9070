import { isEqual } from 'es-toolkit/predicate/isEqual';
import type { ScanTotals } from '#contracts/events/corpus/ad-library-values.ts';
import type { AdLibraryScanEnd } from '#contracts/observations/ad-library-scan.ts';
import { Refusal } from '#contracts/errors.ts';
import type { KnownBrands } from '#domain/corpus/ad-library/attribution.ts';
import { NO_PAGE } from '#domain/corpus/ad-library/state.ts';
import { brandIdOf } from '#domain/ids.ts';
import { handleCommand, SCAN_CONFLICTS } from '#application/commands/command-handler.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { type BrandLocks, NO_LOCKS } from '../intake/brand-locks.ts';
import type { IntakeOutcome } from '../intake-types.ts';
import {
  brandsOfPages,
  claimStagedAds,
  deleteStagedScan,
  pagesConcerning,
  type StagedScan,
  stagedScan,
} from './chunk-staging.ts';
import { coverageKey, stagedBrands } from './staged-ads.ts';
import { brandsOfStagedAds, type StagedSharedAd } from './late/shared-ads.ts';
import { completeMoves } from '../attribution/complete-moves.ts';
import { brandsOfLateScan, isLateForAny, meetsPagesSooner } from './late/lateness.ts';
import { BecameLate, decideForBrand, type PartTotals } from './decide-scan.ts';
import { createLibraryStateStore } from './library-state-store.ts';
import { attributeScan, moveShownAds } from '../attribution/attribute-scan.ts';
import { isMoreKnownAfter, knownBrands, registeredBy } from '../attribution/known-brands.ts';
import { holdersOfDomain, moveAdsOfDomain } from '../attribution/move-ads.ts';
import { brandsLeftBy, openMoves } from '../attribution/move-log.ts';

/** Retryable: the missing chunks may still arrive. */
export class ChunksMissing extends Error {
  constructor(expected: number, staged: number) {
    super(`the scan has ${expected} chunks, but only ${staged} have arrived; send the missing chunks again`);
    this.name = 'ChunksMissing';
  }
}

const addTotals = (sum: ScanTotals | null, more: ScanTotals): ScanTotals =>
  sum === null
    ? more
    : (Object.fromEntries(
        Object.entries(sum).map(([name, count]) => [name, count + more[name as keyof ScanTotals]]),
      ) as ScanTotals);

/** Other processes may record later scans meanwhile, after which the scan is judged again. */
const JUDGED_MAX = 5;

type Recorded = { events: number; totals: ScanTotals | null };

const requireChunks = (
  staged: StagedScan,
  { chunks: stated, brand_domain }: AdLibraryScanEnd,
): StagedScan => {
  const { chunks, recordedFor } = staged;
  if (recordedFor.includes(brandIdOf(brand_domain))) return staged;
  if (chunks.length < stated) throw new ChunksMissing(stated, chunks.length);
  if (chunks.length > stated) {
    throw new Refusal(
      'invalid_input',
      `The scan end states ${stated} chunks, but ${chunks.length} were submitted. Use a new \`scan_id\` for each scan.`,
    );
  }
  return staged;
};

const pagesOf = ({ coverage }: AdLibraryScanEnd, shownPages: readonly string[]): readonly string[] => [
  ...coverage.pages.map(({ page_id }) => page_id),
  ...shownPages,
];

/**
 * The scan's own brand comes last: its `ScanRecorded` marks the whole as recorded. Safe to repeat. Throws
 * `ChunksMissing`, and `Refusal` for surplus chunks and parts for another brand.
 */
export const recordStagedScan = async (
  database: Database,
  eventStore: EventStore,
  end: AdLibraryScanEnd,
  locks: BrandLocks = NO_LOCKS,
  register: () => Promise<number> = async () => 0,
): Promise<IntakeOutcome> => {
  const { scan_id } = end;
  const { shownPages, shownDomains, knownPages, knownDomains } = requireChunks(
    await stagedScan(database, scan_id, brandIdOf(end.brand_domain)),
    end,
  );
  const pageIds = pagesOf(end, shownPages).map((pageId) =>
    pageId === NO_PAGE ? brandIdOf(end.brand_domain) : pageId,
  );
  const recorded: Recorded = { events: 0, totals: null };
  const places = {
    alone: [...pageIds, ...knownPages, end.brand_domain],
    shared: [...shownDomains, ...knownDomains],
  };
  return await locks.runOnPlaces(places, async () => {
    recorded.events += await register();
    for (let judged = 1; ; judged += 1) {
      try {
        await recordParts(database, eventStore, end, locks, recorded);
        return recorded;
      } catch (error) {
        if (!(error instanceof BecameLate) || judged >= JUDGED_MAX) throw error;
      }
    }
  });
};

const recordParts = async (
  database: Database,
  eventStore: EventStore,
  end: AdLibraryScanEnd,
  locks: BrandLocks,
  sums: Recorded,
): Promise<void> => {
  const scannedFor = brandIdOf(end.brand_domain);
  const scan = { scan_id: end.scan_id, observed_at: end.scanned_at, scannedFor };
  const [found, interrupted] = await Promise.all([
    stagedScan(database, end.scan_id, scannedFor),
    openMoves(database, 'all'),
  ]);
  const staged = requireChunks(found, end);
  const { chunks, recordedFor } = staged;
  const allPages = pagesOf(end, staged.shownPages);
  const pagesOfAds = [...allPages, ...staged.knownPages];
  sums.events += await completeMoves(database, eventStore, interrupted);
  const domains = [...new Set([...staged.shownDomains, ...staged.knownDomains, end.brand_domain])];
  const readKnownBrands = async () => (await knownBrands(database, pagesOfAds, domains, scan)).after;
  const attributedBy = await readKnownBrands();
  const registered = registeredBy(attributedBy, end);
  const finishMoves = async (before: KnownBrands | null): Promise<void> => {
    if (before === null || !isEqual(before, await readKnownBrands()))
      sums.events += await moveShownAds(database, eventStore, end, chunks);
    if (registered)
      sums.events += await moveAdsOfDomain(database, eventStore, { ...registered, byScans: true });
  };
  if (recordedFor.includes(scannedFor)) {
    await finishMoves(null);
    if (chunks.length > 0) await deleteStagedScan(database, end.scan_id);
    return;
  }
  const unless =
    registered || isMoreKnownAfter(attributedBy, scan)
      ? null
      : { shownIn: coverageKey(end.coverage.countries) };
  const attribution = await attributeScan(database, eventStore, end, {
    chunks,
    unless,
    pageIds: pagesOfAds,
    domains,
    known: attributedBy,
  });
  sums.events += attribution.events;
  const holders = registered ? await holdersOfDomain(database, registered) : [];
  const isRegistrationLate =
    attribution.isBlocked ||
    (holders.length > 0 && (await isLateForAny(database, [...holders, scannedFor], end, pagesOfAds)));
  if (registered && holders.length > 0 && !isRegistrationLate)
    sums.events += await moveAdsOfDomain(database, eventStore, registered);
  if (chunks.length > 0) await claimStagedAds(database, end.scan_id);
  const named = new Map(end.coverage.pages.map((page) => [page.page_id, page]));
  const pages = [
    ...named.values(),
    ...(staged.shownPages.includes(NO_PAGE) ? [{ page_id: NO_PAGE, page_name: null }] : []),
  ];
  const pageIds = [...named.keys()];
  const readBrands = () =>
    Promise.all([
      brandsLeftBy(database, end.scan_id),
      stagedBrands(database, end.scan_id),
      end.coverage.complete ? brandsOfPages(database, pageIds) : [],
      meetsPagesSooner(database, end, scannedFor, allPages),
      openMoves(database, { scanId: end.scan_id }),
    ]);
  let concerned = await readBrands();
  const open = concerned[4];
  if (open.length > 0) {
    sums.events += await completeMoves(database, eventStore, open);
    concerned = await readBrands();
  }
  const [leftBrands, seenBy, ofPages, isSooner] = concerned;
  const left = new Set(leftBrands);
  const others = new Set([
    ...recordedFor,
    ...left,
    ...seenBy.keys(),
    ...(isRegistrationLate ? holders : []),
    ...ofPages,
  ]);
  const isLate =
    isRegistrationLate ||
    isSooner ||
    (await isLateForAny(database, [...others, scannedFor], end, pagesOfAds));
  const brandsOfAd = isLate
    ? await brandsOfStagedAds(database, scan, chunks)
    : new Map<string, StagedSharedAd>();
  if (isLate) {
    const more = await brandsOfLateScan(database, end, scannedFor, allPages);
    for (const brandId of [...more, ...[...brandsOfAd.values()].flatMap(({ brands }) => [...brands])]) {
      others.add(brandId);
    }
  }
  others.delete(scannedFor);

  const header = {
    scan_id: end.scan_id,
    scanned_for: scannedFor,
    scanned_at: end.scanned_at,
    complete: end.coverage.complete,
    countries: [...new Set(end.coverage.countries)].toSorted(),
    collector: end.coverage.collector,
    partialPages: new Set<string>(),
    isHistory: false,
  };
  for (const brandId of [...others, scannedFor]) {
    const own =
      brandId === scannedFor ? null : await pagesConcerning(database, end.scan_id, brandId, pageIds);
    const ownPages = pages.filter(({ page_id }) => own === null || page_id === NO_PAGE || own.has(page_id));
    const brandHeader = {
      ...header,
      brand_id: brandId,
      pages: ownPages,
      pageIds: new Set(ownPages.map(({ page_id }) => page_id).filter((pageId) => pageId !== NO_PAGE)),
    };
    const seen = seenBy.get(brandId) ?? 0;
    const shared = new Map(
      [...brandsOfAd].flatMap(([adId, { brands, before }]) =>
        brands.has(brandId) ? [[adId, before] as const] : [],
      ),
    );
    const part: PartTotals = { totals: null };
    const store = createLibraryStateStore(database, eventStore, brandId, end.scan_id, isLate);
    await locks.run(brandId, () =>
      handleCommand({
        store,
        decide: (library) =>
          decideForBrand(
            {
              database,
              library,
              header: brandHeader,
              chunks,
              seen,
              knownPageIds: staged.knownPages,
              isLeft: left.has(brandId),
              isLate,
              shared,
              domain: isRegistrationLate && registered ? registered.domain : null,
              shownIn: isLate ? null : (unless?.shownIn ?? null),
            },
            part,
          ),
        conflicts: SCAN_CONFLICTS,
      }),
    );
    sums.events += store.appended();
    if (part.totals) sums.totals = addTotals(sums.totals, part.totals);
  }
  await finishMoves(isLate ? null : attributedBy);
  if (chunks.length > 0) await deleteStagedScan(database, end.scan_id);
};
