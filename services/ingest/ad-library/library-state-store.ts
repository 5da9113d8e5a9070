import { type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { derivedId } from '#domain/ids.ts';
import { v7 } from 'uuid';
import { eventMetadata, serviceActor, type StateStore } from '#application/commands/command-handler.ts';
import type { EventStore, Recorded } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { clearMark, whileMarked } from '../intake/pending-mark.ts';
import { catchUpLibrary } from './catch-up-library.ts';
import { foldEvents, type OpenLibrary, openLibrary, saveLibrary } from './library-store.ts';

const APPEND_EVENTS = 500;

/** From the event's content, not its place in an append, so that an interrupted scan repeats the same ids. */
const eventIdOf = (brandId: string, { type, data }: AdLibraryEvent): string => {
  const about =
    'corrected_by' in data
      ? data.corrected_by
      : 'ad_id' in data
        ? data.ad_id
        : 'ad_ids' in data
          ? (data.ad_ids[0] ?? '')
          : 'ads' in data
            ? (data.ads[0]?.ad_id ?? '')
            : '';
  return derivedId('scan fact', `${data.scan_id}|${brandId}|${type}|${about}`);
};

export type LibraryStateStore = StateStore<OpenLibrary, AdLibraryEvent> & { appended(): number };

/**
 * State comes from the working tables, because a library is too large to be folded from its stream for each scan. The
 * decision of a late scan reads the tables that its earlier events change, so it waits for them (`isLate`).
 */
export const createLibraryStateStore = (
  database: Database,
  eventStore: EventStore,
  brandId: string,
  scanId: string,
  isLate = true,
): LibraryStateStore => {
  const metadata = eventMetadata({
    actor: serviceActor('ingest'),
    correlationId: scanId,
    causationId: scanId,
  });
  const stream = adLibraryStream(brandId);
  /** Each append has a mark of its own, because the tables may be written while the next one is sent. */
  let appending = { stream, commandId: v7() };
  let saving: Promise<void> = Promise.resolve();
  let library: OpenLibrary | undefined;
  let gathered: AdLibraryEvent[] = [];
  let appended = 0;
  let last: Recorded | null = null;

  /** Resolves when the tables are being written, in the order of the appends; the next events are decided meanwhile. */
  const flush = async (): Promise<void> => {
    if (gathered.length === 0 || !library) return;
    const events = gathered;
    gathered = [];
    const opened = library;
    const before = saving;
    const isSaving = Promise.withResolvers<void>();
    appending = { stream, commandId: v7() };
    const { commandId } = appending;
    saving = whileMarked(database, appending, async (mark) => {
      await mark.set();
      last = await eventStore.append(stream, opened.revision, events, metadata, (event) =>
        eventIdOf(brandId, event as AdLibraryEvent),
      );
      appended += events.length;
      await before;
      const saved = saveLibrary(database, opened, last.revision, commandId);
      isSaving.resolve();
      if (await saved) mark.cleared();
      else await catchUpLibrary(database, eventStore, brandId);
    });
    saving.catch(isSaving.reject);
    await (isLate ? saving : isSaving.promise);
  };

  return {
    load: async (conflicts) => {
      await saving.catch(() => undefined);
      saving = Promise.resolve();
      // Optimistic: the tables count as current until `StreamMoved`. Only a retry reads the stream.
      library =
        conflicts === 0
          ? await openLibrary(database, brandId)
          : await catchUpLibrary(database, eventStore, brandId);
      if (conflicts > 0) await clearMark(database, appending);
      gathered = [];
      appended = 0;
      last = null;
      return library;
    },
    append: async (events) => {
      if (!library) throw new Error('a library is loaded before events are appended to it');
      foldEvents(library, events);
      // Each ad is in one part of a scan, so dropping ads here keeps memory from growing with the scan.
      library.state.ads.clear();
      gathered.push(...events);
      if (gathered.length >= APPEND_EVENTS) await flush();
    },
    commit: async () => {
      await flush();
      await saving;
      return last;
    },
    appended: () => appended,
  };
};
