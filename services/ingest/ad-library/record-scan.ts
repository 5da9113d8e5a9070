import {
  type AdLibraryEvent,
  adLibraryStream,
  type ScanTotals,
} from '#contracts/events/corpus/ad-library.ts';
import type { EventMetadata } from '#contracts/events/event.ts';
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
import { brandIdOf, derivedId } from '#domain/ids.ts';
import { pause } from '#platform/clock.ts';
import { type EventStore, StreamMoved } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { IntakeOutcome } from '../intake-types.ts';
import {
  absentAdIds,
  brandsOnPages,
  claimStagedAds,
  keepHistories,
  pagesKnownElsewhere,
  stagedAds,
  stagedBrands,
  stagedChunks,
  unstage,
} from './chunk-staging.ts';
import {
  catchUpLibrary,
  foldEvents,
  loadAds,
  type OpenLibrary,
  openLibrary,
  pageHistories,
  saveLibrary,
} from './library-store.ts';

/** Number of buffered events that triggers an append. */
const APPEND_EVENTS = 500;
/**
 * Maximum retries of one brand's part of a scan after a revision conflict. A conflict means that another process
 * appended to the same stream meanwhile.
 */
const CONFLICTS_MAX = 20;

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

const metadataOf = (scanId: string): EventMetadata => ({
  $correlationId: scanId,
  $causationId: scanId,
  request_id: scanId,
  actor: { kind: 'service', id: 'ingest' },
  schema_version: 1,
});

/**
 * Derives the event id from the content of the event, not from its position in an append. A scan that was
 * interrupted anywhere and is decided again therefore produces the same events with the same ids.
 */
const eventIdOf = (brandId: string, { type, data }: AdLibraryEvent): string => {
  const about =
    'ad_id' in data
      ? data.ad_id
      : 'ad_ids' in data
        ? (data.ad_ids[0] ?? '')
        : 'ads' in data
          ? (data.ads[0]?.ad_id ?? '')
          : '';
  return derivedId('scan fact', `${data.scan_id}|${brandId}|${type}|${about}`);
};

/**
 * Creates a buffered writer for the events of one brand. `add` folds events into the state at once, so that later
 * decisions see them. Appends are batched: a small scan is one append.
 */
const recorder = (database: Database, eventStore: EventStore, library: OpenLibrary, scanId: string) => {
  let waiting: AdLibraryEvent[] = [];
  let appended = 0;
  const flush = async (): Promise<void> => {
    if (waiting.length === 0) return;
    const events = waiting;
    waiting = [];
    const { revision } = await eventStore.append(
      adLibraryStream(library.brandId),
      library.revision,
      events,
      metadataOf(scanId),
      (event) => eventIdOf(library.brandId, event as AdLibraryEvent),
    );
    appended += events.length;
    await saveLibrary(database, library, revision);
  };
  return {
    add: async (events: readonly AdLibraryEvent[]): Promise<void> => {
      foldEvents(library, events);
      // Each ad occurs in one part of a scan only, so the loaded ads can be dropped. Memory then does not grow with
      // the scan, whose size has no limit here.
      library.state.ads.clear();
      waiting.push(...events);
      if (waiting.length >= APPEND_EVENTS) await flush();
    },
    flush,
    appended: () => appended,
  };
};

/**
 * Returns the aspects of ads that the collector itself reworded (rule 6). Rule 6 needs the whole scan before anything
 * is decided, so this pass runs only if the collector changed. A resumed scan reuses the verdict of its open events.
 */
const verdictOnRewording = async (
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
  return await pagesKnownElsewhere(database, brandId, pageIds, countries);
};

const recordForBrand = async (
  database: Database,
  eventStore: EventStore,
  scan: Scan,
  brandId: string,
  seen: number,
  isRetry: boolean,
): Promise<{ events: number; totals: ScanTotals | null }> => {
  const library = await openLibrary(database, brandId);
  // Optimistic: the tables count as current until an append fails with `StreamMoved`. Only a retry reads the stream.
  if (isRetry) await catchUpLibrary(database, eventStore, library);
  const recorded = await database.query(
    'select from ingest.recorded_scan where scan_id = $1 and brand_id = $2',
    [scan.header.scan_id, brandId],
  );
  if (recorded.rows.length > 0) return { events: 0, totals: null };

  const { pages } = scan;
  const partialPages = await pagesOfOtherCountries(database, brandId, scan);
  const header: ScanHeader = { ...scan.header, brand_id: brandId, pages, partialPages };

  // `NO_PAGE` is one bucket per brand, not a page shared between brands. Its history is therefore the brand's own.
  const unnamed = library.state.pages.get(NO_PAGE);
  const history = new Map(scan.history);
  if (unnamed) history.set(NO_PAGE, unnamed);
  else history.delete(NO_PAGE);

  const reworded = await verdictOnRewording(database, library, header, scan.chunks);
  const record = recorder(database, eventStore, library, header.scan_id);
  if (seen > 0) {
    for (const chunk of scan.chunks) {
      const ads = await stagedAds(database, header.scan_id, chunk, brandId);
      await loadAds(
        database,
        library,
        ads.map(({ ad_id }) => ad_id),
      );
      await record.add(recordSightings(header, ads, reworded, history)(library.state));
    }
  }
  if (header.complete) {
    const covered = scan.pages.map(({ page_id }) => page_id).filter((pageId) => pageId !== NO_PAGE);
    for await (const adIds of absentAdIds(database, header.scan_id, brandId, covered)) {
      await loadAds(database, library, adIds);
      await record.add(recordAbsences(header, adIds)(library.state));
    }
  }
  const linked = await database.query<{ page_id: string }>(
    'select page_id from ingest.linked_page where brand_id = $1',
    [brandId],
  );
  const end = { seen, linkedPages: linked.rows.map(({ page_id }) => page_id) };
  const closing = recordScan(header, end, history)(library.state);
  await record.add(closing);
  await record.flush();
  return { events: record.appended(), totals: closing[0]?.data.totals ?? null };
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
    await unstage(database, end.scan_id);
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
    history: others.size === 0 ? histories : await keepHistories(database, end.scan_id, histories),
  };
  let events = 0;
  let totals: ScanTotals | null = null;
  for (const brandId of [...others, scannedFor]) {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const seen = seenBy.get(brandId) ?? 0;
        const part = await recordForBrand(database, eventStore, scan, brandId, seen, attempt > 0);
        events += part.events;
        if (part.totals) totals = addTotals(totals, part.totals);
        break;
      } catch (error) {
        if (!(error instanceof StreamMoved) || attempt >= CONFLICTS_MAX) throw error;
        await pause(Math.random() * 20 * (attempt + 1));
      }
    }
  }
  await unstage(database, end.scan_id);
  return { events, totals };
};
