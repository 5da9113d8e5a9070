import { AD_LIBRARY } from '#contracts/events/corpus/ad-library.ts';
import { categoryOf, type Event, idOf } from '#contracts/events/event.ts';
import { UnreadableEvent } from '#contracts/events/schema-registry.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { catchUpLibrary } from '../ad-library/catch-up-library.ts';
import { foldBrandStream, foldEvent, foldPageStream, isFolded, storeAppendedLink } from './folded-streams.ts';
import { type Appending, clearMark, isRunningHere, type Mark } from './pending-mark.ts';

/** An append whose answer was lost is recorded sooner, or never: it is sent for at most two minutes. */
const PENDING_MINUTES_MAX = 10;
const PENDING_READ_MAX = 1_000;

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

/** Reads the stream of a page only for several events, or when the tables lack earlier ones. */
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
 * Folds streams whose command was interrupted between append and tables. A command that runs elsewhere has a mark too,
 * and both may fold. Marks stay for a time, because the append may follow. Call before reading tables of several
 * streams.
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
      // Decisions on a stream that waits for a newer release fail with the same error.
      if (!(error instanceof UnreadableEvent)) throw error;
    }
    for (const { command_id: commandId, is_old } of marks)
      if (is_old) await clearMark(database, { stream, commandId });
  }
};
