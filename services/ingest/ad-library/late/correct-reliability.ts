import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { ScanTotals } from '#contracts/events/corpus/ad-library-values.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import { closeScan } from '#domain/corpus/ad-library/decider.ts';
import { LATE_DAYS_MAX, correctAds, emptyLateTotals } from '#domain/corpus/ad-library/late-scan.ts';
import { movedBetween } from '#domain/corpus/ad-library/contributions.ts';
import { pagesLinkedAt, reliableScans } from '#domain/corpus/ad-library/reliability.ts';
import { historyOf } from '#domain/corpus/ad-library/replay.ts';
import { correctScan } from '#domain/corpus/ad-library/scan.ts';
import { adsNowOf, NO_COUNTS } from '#domain/corpus/ad-library/state.ts';
import { derivedId } from '#domain/ids.ts';
import { handleCommand, SCAN_CONFLICTS } from '#application/commands/command-handler.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { loadAds, type OpenLibrary } from '../library-store.ts';
import { createLibraryStateStore } from '../library-state-store.ts';
import { movesOfBrand } from '../../attribution/move-log.ts';
import { causeAsScan } from './cause-as-scan.ts';
import { extentOfSharedAds, shareAds, sharedAdIds } from './shared-ads.ts';
import { looksWithLink } from './recorded-looks.ts';
import { firstMeetings, linksOf, scannedForOf, newestScanSince, scansOfBrand } from '../scan-log.ts';
import { pagesOfBrand } from '../chunk-staging.ts';

/** A link older than recorded scans corrects the reliable days of its brand (rule 9). */

export type ObservedLink = { readonly brandId: string; readonly pageId: string; readonly observedAt: string };

const NO_TOTALS: ScanTotals = { seen: 0, active: 0, missing: 0, total: 0, ...NO_COUNTS };

type LooksOfSharedAds = {
  /** They showed such an ad, or covered its page while it was live, and the ad was or became the brand's. */
  readonly looks: ReadonlySet<string>;
  /** Shared ads whose moves do not follow from their scans. */
  readonly unsettled: readonly string[];
};

/** Scans that looked at the brand for ads shared with others (rules 9, 10). `pageIds`: all pages of the brand. */
const looksOfSharedAds = async (
  database: Database,
  library: OpenLibrary,
  cause: { readonly id: string; readonly observedAt: string },
  pageIds: readonly string[],
): Promise<LooksOfSharedAds> => {
  const { brandId, state } = library;
  const extent = await extentOfSharedAds(database, brandId, []);
  if (extent.scanIds.length === 0) return { looks: new Set(), unsettled: [] };
  const pages = [...new Set([...pageIds, ...extent.pageIds])];
  const scans = await scansOfBrand(database, brandId, null, pages, extent.scanIds);
  const among = { scan: causeAsScan(cause, brandId), scans, metAt: new Map(), shownPages: [], moves: [] };
  const deciding = { scan_id: cause.id, observed_at: cause.observedAt, scannedFor: null };
  const sums = emptyLateTotals();
  const unsettled: string[] = [];
  for await (const adIds of sharedAdIds(database, brandId, cause.id)) {
    state.ads.clear();
    await loadAds(database, library, adIds);
    const shared = await shareAds(database, among, adIds, { deciding });
    unsettled.push(...shared.unsettled);
    const decided = adIds.filter(
      (adId) => !shared.unsettled.has(adId) && (shared.ads.has(adId) || state.ads.has(adId)),
    );
    correctAds(among, decided, new Map(), sums, shared)(state);
  }
  state.ads.clear();
  return { looks: sums.concerned, unsettled };
};

const decideCorrections = async (
  database: Database,
  library: OpenLibrary,
  { pageId, observedAt }: ObservedLink,
  since: string,
): Promise<readonly AdLibraryEvent[]> => {
  const { brandId, revision } = library;
  const links = await linksOf(database, brandId);
  const linked = links.map(({ page_id }) => page_id);
  const pageIds = [...new Set([...(await pagesOfBrand(database, brandId)), ...linked, pageId])];
  const scans = await scansOfBrand(database, brandId, null, pageIds);
  const complete = scans.filter((scan) => scan.complete).map((scan) => ({ ...scan.header, ...scan }));
  const reliable = reliableScans(brandId, links, complete);
  const metAt = await firstMeetings(database, scannedForOf(scans), pageIds);
  // The revision keeps the id apart from an earlier correction by the same link.
  const corrected_by = derivedId('page link', `${pageId}|${brandId}|${observedAt}|${revision}`);
  const moves = await movesOfBrand(database, brandId);
  const shared = await looksOfSharedAds(database, library, { id: corrected_by, observedAt }, pageIds);
  const judged = {
    pageId,
    since,
    causeId: corrected_by,
    ofSharedAds: shared.looks,
    moves: await movesOfBrand(database, brandId, shared.unsettled),
  };
  const looks = await looksWithLink(database, library, scans, links, judged);
  const lastScan = scans.findLast(
    (scan) => scan.totals !== null && scan.chronological && looks.has(scan.scan_id),
  );
  const lastLook = lastScan?.totals
    ? { scan_id: lastScan.scan_id, observed_at: lastScan.observed_at, totals: lastScan.totals }
    : null;
  const events: AdLibraryEvent[] = [];
  const adsNow = adsNowOf(library.state);
  let totals = NO_TOTALS;
  let totalsAt = '';
  for (const scan of scans) {
    const { scan_id, observed_at, header } = scan;
    const isReliable = reliable.get(scan_id) ?? false;
    if (scan.totals !== null) {
      if (!scan.chronological) continue;
      totals = { ...scan.totals, ...NO_COUNTS, seen: 0 };
      totalsAt = observed_at;
      const noLook = !looks.has(scan_id);
      if (observed_at < since || (isReliable === scan.reliable && noLook === scan.noLook)) continue;
      const change = { reliable: isReliable, noLook, totals: scan.totals };
      events.push(correctScan(header, corrected_by, change, lastLook, adsNow));
      continue;
    }
    const namesLinkedPage = pagesLinkedAt(links, observed_at).some((id) => scan.pageIds.has(id));
    if (observed_at < since || !scan.complete || !namesLinkedPage) continue;
    const history = historyOf(scans, header.scanned_for, metAt);
    const moved = movedBetween(moves, totalsAt, observed_at);
    const active = totals.active + moved.active;
    const missing = totals.missing + moved.missing;
    const own = { ...totals, active, missing, total: totals.total + moved.total };
    const end = { reliable: isReliable, late: true, seen: 0, recordedBy: corrected_by };
    events.push(closeScan(header, end, history, own, adsNow));
  }
  return events;
};

/**
 * Complete scans of a linked page count as looks at the brand; those of an ended link do not. Scans older than
 * `LATE_DAYS_MAX` stay (rule 11). Safe to repeat.
 */
export const correctReliability = async (
  database: Database,
  eventStore: EventStore,
  link: ObservedLink,
): Promise<number> => {
  const { brandId, pageId, observedAt } = link;
  const newest = await newestScanSince(database, brandId, pageId, observedAt);
  if (newest === null) return 0;
  const oldest = new Date(Date.parse(newest) - LATE_DAYS_MAX * DAY_MS).toISOString();
  const since = oldest > observedAt ? oldest : observedAt;
  const store = createLibraryStateStore(
    database,
    eventStore,
    brandId,
    derivedId('page link', `${pageId}|${brandId}|${observedAt}`),
  );
  const decide = async function* (library: OpenLibrary): AsyncGenerator<readonly AdLibraryEvent[]> {
    yield await decideCorrections(database, library, link, since);
  };
  await handleCommand({ store, decide, conflicts: SCAN_CONFLICTS });
  return store.appended();
};
