import { AD_LIBRARY } from '#contracts/events/corpus/ad-library.ts';
import { categoryOf, type Event, idOf } from '#contracts/events/event.ts';
import { UnreadableEvent } from '#contracts/events/schema-registry.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { catchUpLibrary } from '../ad-library/catch-up-library.ts';
import { foldBrandStream, foldEvent, foldPageStream, isFolded, storeAppendedLink } from './folded-streams.ts';
import { type Appending, clearMark, isRunningHere, type Mark } from './pending-mark.ts';

/**
 * Minutes after which a mark is deleted. An append whose answer was lost is recorded long before that, or never: it is
 * sent for at most two minutes.
 */
const PENDING_MINUTES_MAX = 10;
/** Maximum marks that are read at once. */
const PENDING_READ_MAX = 1_000;

/** Folds a stream of any category that the working tables reflect. */
export const foldStream = async (
  database: Database,
  eventStore: EventStore,
  stream: string,
): Promise<void> => {
  switch (categoryOf(stream)) {
    case 'brand':
      return await foldBrandStream(database, eventStore, stream);
    case 'socialPage':
      return await foldPageStream(database, eventStore, stream);
    case AD_LIBRARY:
      await catchUpLibrary(database, eventStore, idOf(stream));
  }
};

/**
 * Folds the events that a command has appended. Reads the stream of a page only if the tables lack events before them, or
 * if there are several.
 */
export const foldAppended = async (
  database: Database,
  eventStore: EventStore,
  appending: Appending,
  { events, revision }: { readonly events: readonly Event[]; readonly revision: bigint },
  mark: Mark,
): Promise<void> => {
  if (!events.some(isFolded)) return;
  const { stream } = appending;
  const [event] = events;
  if (categoryOf(stream) === 'brand') {
    for (const one of events) await foldEvent(database, { ...one, stream, revision });
    return;
  }
  const isOneLink = event !== undefined && events.length === 1 && categoryOf(stream) === 'socialPage';
  if (isOneLink && (await storeAppendedLink(database, appending, event, revision))) mark.cleared();
  else await foldStream(database, eventStore, stream);
};

/**
 * Folds the streams to which a command appended without writing the tables, because it was interrupted between the two,
 * in this process or another. A command that still runs in another process has a mark, too: its events may be folded by
 * both. Marks stay for a time, because the append may follow. Call it before a decision that reads tables of several streams.
 */
export const foldPending = async (database: Database, eventStore: EventStore): Promise<void> => {
  const { rows } = await database.query<{ stream: string; command_id: string; is_old: boolean }>({
    name: 'ingest_pending',
    text: `select stream, command_id, marked_at < now() - make_interval(mins => $1) as is_old
           from ingest.pending_fold order by marked_at, stream, command_id limit $2`,
    values: [PENDING_MINUTES_MAX, PENDING_READ_MAX],
  });
  const left = rows.filter(
    ({ stream, command_id }) => !isRunningHere(database, { stream, commandId: command_id }),
  );
  for (const [stream, marks] of Map.groupBy(left, (row) => row.stream)) {
    try {
      await foldStream(database, eventStore, stream);
    } catch (error) {
      // The stream waits for a release that can read it. Decisions on it fail with the same error.
      if (!(error instanceof UnreadableEvent)) throw error;
    }
    for (const { command_id: commandId, is_old } of marks)
      if (is_old) await clearMark(database, { stream, commandId });
  }
};
