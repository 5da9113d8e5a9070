import { type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { requireReadable } from '#contracts/events/schema-registry.ts';
import { pause } from '#platform/clock.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { adIdsOf, foldEvents, loadAds, type OpenLibrary, openLibrary, saveLibrary } from './library-store.ts';

const CATCH_UP_EVENTS = 500;
/** A try fails only when another process wrote the same tables meanwhile. */
const CATCH_UP_TRIES = 50;
const TRY_DELAY_MS = 100;

const foldRest = async (
  database: Database,
  eventStore: Pick<EventStore, 'read'>,
  library: OpenLibrary,
): Promise<boolean> => {
  const { brandId, state } = library;
  let batch: AdLibraryEvent[] = [];
  let { revision } = library;
  const flush = async (): Promise<boolean> => {
    if (batch.length === 0) return true;
    await loadAds(database, library, batch.flatMap(adIdsOf));
    foldEvents(library, batch);
    const isSaved = await saveLibrary(database, library, revision, null);
    state.ads.clear();
    batch = [];
    return isSaved;
  };
  for await (const event of eventStore.read<AdLibraryEvent>(adLibraryStream(brandId), library.revision)) {
    batch.push(requireReadable(event));
    ({ revision } = event);
    if (batch.length >= CATCH_UP_EVENTS && !(await flush())) return false;
  }
  return await flush();
};

/** Folds the events that the brand's tables lack. Throws when other processes keep writing the tables. */
export const catchUpLibrary = async (
  database: Database,
  eventStore: Pick<EventStore, 'read'>,
  brandId: string,
): Promise<OpenLibrary> => {
  for (let tries = 0; tries < CATCH_UP_TRIES; tries += 1) {
    const library = await openLibrary(database, brandId);
    if (await foldRest(database, eventStore, library)) return library;
    await pause(Math.random() * TRY_DELAY_MS);
  }
  throw new Error(
    `other processes wrote the ads of brand ${brandId} during ${CATCH_UP_TRIES} tries; run again when they have ended`,
  );
};
