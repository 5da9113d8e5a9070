import type { AdLibraryEvent, ScanTotals } from '#contracts/events/corpus/ad-library.ts';
import type { AdLibraryScanEnd } from '#contracts/observations/ad-library-scan.ts';
import { Refusal } from '#contracts/errors.ts';
import { NO_PAGE } from '#domain/corpus/ad-library/state.ts';
import { recordAbsences } from '#domain/corpus/ad-library/absences.ts';
import { recordScan, recordSightings } from '#domain/corpus/ad-library/decider.ts';
import {
  collectorChanged,
  emptyTally,
  rewordedAspects,
  tallyRewording,
} from '#domain/corpus/ad-library/collector-rewording.ts';
import type { PageHistories, ScanHeader } from '#domain/corpus/ad-library/scan.ts';
import { brandIdOf } from '#domain/ids.ts';
import { handleCommand, SCAN_CONFLICTS } from '#application/commands/handle-command.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { IntakeOutcome } from '../intake-types.ts';
import {
  absentAdIds,
  brandsOnPages,
  claimStagedAds,
  storePageHistories,
  pagesWithAdsElsewhere,
  stagedAds,
  stagedBrands,
  stagedChunks,
  deleteStagedScan,
} from './chunk-staging.ts';
import { loadAds, type OpenLibrary, pageHistories } from './library-store.ts';
import { createLibraryStateStore } from './library-state-store.ts';

/** Thrown when the end of a scan arrives before all of its chunks. Retryable: the missing chunks may still arrive. */
export class ChunksMissing extends Error {
  constructor(expected: number, staged: number) {
    super(`the scan has ${expected} chunks, but only ${staged} have arrived; send the missing chunks again`);
    this.name = 'ChunksMissing';
  }
}

type Scan = {
  readonly header: Omit<ScanHeader, 'brand_id' | 'pages' | 'partialPages'>;
  readonly pages: ScanHeader['pages'];
  readonly chunks: readonly number[];
  readonly history: PageHistories;
};

const addTotals = (sum: ScanTotals | null, more: ScanTotals): ScanTotals =>
  sum === null
    ? more
    : (Object.fromEntries(
        Object.entries(sum).map(([name, count]) => [name, count + more[name as keyof ScanTotals]]),
      ) as ScanTotals);

/**
 * Returns the aspects of ads that the collector itself reworded (rule 6). Rule 6 needs the whole scan before anything
 * is decided, so this pass runs only if the collector changed. A resumed scan reuses the verdict of its open events.
 */
const findRewordedAspects = async (
  database: Database,
  library: OpenLibrary,
  header: ScanHeader,
  chunks: Scan['chunks'],
) => {
  if (library.state.open?.scan_id === header.scan_id && library.state.open.reworded.length > 0) {
    return library.state.open.reworded;
  }
  if (!collectorChanged(header, library.state)) return [];
  const tally = emptyTally();
  for (const chunk of chunks) {
    const ads = await stagedAds(database, header.scan_id, chunk, library.brandId);
    await loadAds(
      database,
      library,
      ads.map(({ ad_id }) => ad_id),
    );
    tallyRewording(header, ads, tally)(library.state);
    library.state.ads.clear();
  }
  return rewordedAspects(tally);
};

/** Returns the covered social pages on which the brand has live ads known from countries outside the scan. */
const pagesOfOtherCountries = async (
  database: Database,
  brandId: string,
  { header: { complete, countries }, pages }: Scan,
): Promise<ReadonlySet<string>> => {
  if (!complete || countries.includes('ALL')) return new Set();
  const pageIds = pages.map(({ page_id }) => page_id);
  return await pagesWithAdsElsewhere(database, brandId, pageIds, countries);
};

/** Totals of the brand's part of a scan; set when the part is decided. */
type PartTotals = { totals: ScanTotals | null };

/**
 * Decides a brand's part of a scan. Yields its events in groups, of sightings, of absences and the closing
 * `ScanRecorded`; the state store folds each group before the next is decided. Yields nothing for a scan that is
 * recorded already.
 */
const decideForBrand = async function* (
  database: Database,
  library: OpenLibrary,
  scan: Scan,
  seen: number,
  part: PartTotals,
): AsyncGenerator<readonly AdLibraryEvent[]> {
  const { brandId } = library;
  part.totals = null;
  const recorded = await database.query(
    'select from ingest.recorded_scan where scan_id = $1 and brand_id = $2',
    [scan.header.scan_id, brandId],
  );
  if (recorded.rows.length > 0) return;

  const { pages } = scan;
  const partialPages = await pagesOfOtherCountries(database, brandId, scan);
  const header: ScanHeader = { ...scan.header, brand_id: brandId, pages, partialPages };

  // `NO_PAGE` is one bucket per brand, not a page shared between brands. Its history is therefore the brand's own.
  const unnamed = library.state.pages.get(NO_PAGE);
  const history = new Map(scan.history);
  if (unnamed) history.set(NO_PAGE, unnamed);
  else history.delete(NO_PAGE);

  const reworded = await findRewordedAspects(database, library, header, scan.chunks);
  if (seen > 0) {
    for (const chunk of scan.chunks) {
      const ads = await stagedAds(database, header.scan_id, chunk, brandId);
      await loadAds(
        database,
        library,
        ads.map(({ ad_id }) => ad_id),
      );
      yield recordSightings(header, ads, reworded, history)(library.state);
    }
  }
  if (header.complete) {
    const covered = scan.pages.map(({ page_id }) => page_id).filter((pageId) => pageId !== NO_PAGE);
    for await (const adIds of absentAdIds(database, header.scan_id, brandId, covered)) {
      await loadAds(database, library, adIds);
      yield recordAbsences(header, adIds)(library.state);
    }
  }
  const linked = await database.query<{ page_id: string }>(
    'select page_id from ingest.linked_page where brand_id = $1',
    [brandId],
  );
  const end = { seen, linkedPages: linked.rows.map(({ page_id }) => page_id) };
  const closing = recordScan(header, end, history)(library.state);
  part.totals = closing[0]?.data.totals ?? null;
  yield closing;
};

/**
 * Decides and records a scan whose chunks are all staged, one brand after the other. The brand that the scan was made
 * for comes last: its `ScanRecorded` marks the whole scan as recorded. Safe to call again after any interruption.
 * Throws `ChunksMissing` when chunks are missing, and `Refusal` when there are more chunks than the end states.
 */
export const recordStagedScan = async (
  database: Database,
  eventStore: EventStore,
  end: AdLibraryScanEnd,
): Promise<IntakeOutcome> => {
  const scannedFor = brandIdOf(end.brand_domain);
  const recorded = await database.query<{ brand_id: string }>(
    'select brand_id from ingest.recorded_scan where scan_id = $1',
    [end.scan_id],
  );
  const recordedFor = recorded.rows.map(({ brand_id }) => brand_id);
  if (recordedFor.includes(scannedFor)) {
    await deleteStagedScan(database, end.scan_id);
    return { events: 0, totals: null };
  }
  const staged = await stagedChunks(database, end.scan_id);
  const { chunks } = staged;
  if (chunks.length < end.chunks) throw new ChunksMissing(end.chunks, chunks.length);
  if (chunks.length > end.chunks) {
    throw new Refusal(
      'invalid_input',
      `The scan end states ${end.chunks} chunks, but ${chunks.length} were submitted. Use a new \`scan_id\` for each scan.`,
    );
  }
  await claimStagedAds(database, end.scan_id);
  const seenBy = await stagedBrands(database, end.scan_id);
  // Deduplicates pages that the coverage names twice.
  const named = new Map(end.coverage.pages.map((page) => [page.page_id, page]));
  const pages = [...named.values(), ...(staged.unnamed ? [{ page_id: NO_PAGE, page_name: null }] : [])];
  const pageIds = [...named.keys()];
  const others = new Set([
    ...recordedFor,
    ...seenBy.keys(),
    ...(end.coverage.complete ? await brandsOnPages(database, pageIds) : []),
  ]);
  others.delete(scannedFor);

  const histories = await pageHistories(
    database,
    pages.map(({ page_id }) => page_id),
    end.scanned_at,
  );
  const scan: Scan = {
    header: {
      scan_id: end.scan_id,
      scanned_for: scannedFor,
      scanned_at: end.scanned_at,
      complete: end.coverage.complete,
      countries: [...new Set(end.coverage.countries)].toSorted(),
      collector: end.coverage.collector,
    },
    pages,
    chunks,
    history: others.size === 0 ? histories : await storePageHistories(database, end.scan_id, histories),
  };
  let events = 0;
  let totals: ScanTotals | null = null;
  for (const brandId of [...others, scannedFor]) {
    const seen = seenBy.get(brandId) ?? 0;
    const part: PartTotals = { totals: null };
    const store = createLibraryStateStore(database, eventStore, brandId, end.scan_id);
    await handleCommand({
      store,
      decide: (library) => decideForBrand(database, library, scan, seen, part),
      conflicts: SCAN_CONFLICTS,
    });
    events += store.appended();
    if (part.totals) totals = addTotals(totals, part.totals);
  }
  await deleteStagedScan(database, end.scan_id);
  return { events, totals };
};
