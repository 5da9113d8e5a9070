import { AD_LIBRARY } from '#contracts/events/corpus/ad-library.ts';
import { idOf } from '#contracts/events/event.ts';
import { UnreadableEvent } from '#contracts/events/schema-registry.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { catchUpLibrary } from '../ad-library/catch-up-library.ts';
import { completeMoves } from '../attribution/complete-moves.ts';
import { foldEvent } from './folded-streams.ts';

/** Maximum events per batch. */
const BATCH_EVENTS = 2_000;
const PREFIXES = ['brand-', 'socialPage-', `${AD_LIBRARY}-`];

/**
 * Folds the events since the stored position into the working tables. Starts at the first event when they are new.
 *
 * From an event that this release cannot read, the rest of that stream waits for a release; the other streams are
 * folded. The stored position stays before the event, so that such a release folds it and all that follows.
 */
export const catchUpWorkingTables = async (
  database: Database,
  eventStore: EventStore,
  log?: Log,
): Promise<void> => {
  const { rows } = await database.query<{ position: string }>('select position from ingest.folded_to');
  const after = rows[0] ? BigInt(rows[0].position) : null;
  await using follower = eventStore.follow({ after, prefixes: PREFIXES, bufferItems: BATCH_EVENTS });
  let position = after;
  const libraries = new Set<string>();
  const waiting = new Set<string>();
  for (let caughtUp = false; !caughtUp; ) {
    for (const item of await follower.take(BATCH_EVENTS)) {
      if (item.kind === 'caught_up') caughtUp = true;
      else if (item.kind === 'event') {
        const { event } = item;
        const { stream } = event;
        if (stream.startsWith(AD_LIBRARY)) libraries.add(idOf(stream));
        if (event.unreadable !== undefined && !waiting.has(stream)) {
          waiting.add(stream);
          log?.error({ err: new UnreadableEvent(event), stream }, 'stream waits for a release');
        }
        if (!waiting.has(stream)) {
          await foldEvent(database, event);
        }
        if (waiting.size === 0) position = event.position;
      } else if (waiting.size === 0) position = item.position;
    }
  }
  for (const brandId of libraries) {
    try {
      await catchUpLibrary(database, eventStore, brandId);
    } catch (error) {
      if (!(error instanceof UnreadableEvent)) throw error;
    }
  }
  await completeMoves(database, eventStore, 'all');
  if (position === null) return;
  await database.query(
    `insert into ingest.folded_to (position) values ($1)
     on conflict (one) do update set position = greatest(ingest.folded_to.position, excluded.position)`,
    [position],
  );
};
