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

/** Events gathered before they are appended together. */
const APPEND_EVENTS = 500;
/** Another process recorded for the same brand meanwhile: the brand's part is decided again. */
const CONFLICTS_MAX = 20;

/** The end of a scan came before all of its chunks: worth trying again later. */
export class ChunksMissing extends Error {
  constructor(expected: number, staged: number) {
    super(
      `the scan ended with ${expected} chunks, of which ${staged} have arrived; send the missing ones again`,
    );
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
 * An event's id follows from what it says, not from how events were grouped: interrupted anywhere and decided
 * again, a scan leaves the same events with the same ids.
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
 * Folds decided events in at once, so that what follows is decided on them, and appends them in groups: a small
 * scan is one append.
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
      // No two parts of a scan share an ad, so none is kept: a scan's size is bounded by nothing here.
      library.state.ads.clear();
      waiting.push(...events);
      if (waiting.length >= APPEND_EVENTS) await flush();
    },
    flush,
    appended: () => appended,
  };
};

/** Rule 6 looks at the whole scan before any of it is decided; only a change of collector makes it look. */
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

/** Covered pages with live ads of the brand that the scan's countries do not tell of. */
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
  // The tables are taken at their word until an append shows that the stream has moved on.
  if (isRetry) await catchUpLibrary(database, eventStore, library);
  const recorded = await database.query(
    'select from ingest.recorded_scan where scan_id = $1 and brand_id = $2',
    [scan.header.scan_id, brandId],
  );
  if (recorded.rows.length > 0) return { events: 0, totals: null };

  const { pages } = scan;
  const partialPages = await pagesOfOtherCountries(database, brandId, scan);
  const header: ScanHeader = { ...scan.header, brand_id: brandId, pages, partialPages };

  // Ads without a page share no page with other brands' ads: their history is the brand's own.
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
 * Decides a scan whose chunks are all staged, brand by brand, the brand it was made for last: its
 * `ScanRecorded` says that the whole scan is recorded. May be called again after any interruption.
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
      `The scan ended with ${end.chunks} chunks, but ${chunks.length} were handed in; give another scan another scan_id.`,
    );
  }
  await claimStagedAds(database, end.scan_id);
  const seenBy = await stagedBrands(database, end.scan_id);
  // A page named twice is one.
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
