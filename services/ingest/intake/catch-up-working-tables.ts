import { AD_LIBRARY } from '#contracts/events/corpus/ad-library.ts';
import { idOf } from '#contracts/events/event.ts';
import { UnreadableEvent } from '#contracts/events/schema-registry.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { catchUpLibrary } from '../ad-library/catch-up-library.ts';
import { completeMoves } from '../attribution/complete-moves.ts';
import { openMoves } from '../attribution/move-log.ts';
import { moveAdsOfSharedHosts } from '../attribution/move-ads.ts';
import { foldEvent } from './folded-streams.ts';
import { openWaitingStreams, type WaitingStreams } from './waiting-streams.ts';

export const BATCH_EVENTS = 2_000;
/** Streams that the working tables reflect event by event. */
export const FOLDED_PREFIXES = ['brand-', 'socialPage-'] as const;
const LIBRARY_PREFIX = `${AD_LIBRARY}-`;

export const readFoldedTo = async (database: Database): Promise<bigint | null> => {
  const { rows } = await database.query<{ position: string }>('select position from ingest.folded_to');
  return rows[0] ? BigInt(rows[0].position) : null;
};

/** Tables that another process emptied stay without a position. */
export const moveFoldedTo = async (database: Database, position: bigint): Promise<void> => {
  await database.query({
    name: 'ingest_move_folded_to',
    text: 'update ingest.folded_to set position = $1 where position < $1',
    values: [position],
  });
};

const saveFoldedTo = async (database: Database, position: bigint): Promise<void> => {
  await database.query({
    name: 'ingest_save_folded_to',
    text: `insert into ingest.folded_to (position) values ($1)
           on conflict (one) do update set position = greatest(ingest.folded_to.position, excluded.position)`,
    values: [position],
  });
};

export type CaughtUp = {
  readonly waiting: WaitingStreams;
  readonly position: bigint | null;
  readonly events: number;
};

/**
 * Starts at the stored position, or the first event. Reads libraries too: after a restore of older tables they lack
 * events.
 */
export const catchUpWorkingTables = async (
  database: Database,
  eventStore: EventStore,
  log?: Log,
): Promise<CaughtUp> => {
  const after = await readFoldedTo(database);
  const waiting = await openWaitingStreams(database, eventStore, log);
  await using follower = eventStore.follow({
    after,
    prefixes: [...FOLDED_PREFIXES, LIBRARY_PREFIX],
    bufferItems: BATCH_EVENTS,
  });
  let position = after;
  let events = 0;
  const libraries = new Set<string>();
  for (let caughtUp = false; !caughtUp; ) {
    for (const item of await follower.take(BATCH_EVENTS)) {
      if (item.kind === 'caught_up') caughtUp = true;
      else if (item.kind === 'checkpoint') ({ position } = item);
      else {
        const { event } = item;
        ({ position } = event);
        events += 1;
        if (await waiting.setAside(event)) continue;
        if (event.stream.startsWith(LIBRARY_PREFIX)) libraries.add(idOf(event.stream));
        else await foldEvent(database, event);
      }
    }
  }
  for (const brandId of libraries) {
    try {
      await catchUpLibrary(database, eventStore, brandId);
    } catch (error) {
      if (!(error instanceof UnreadableEvent)) throw error;
    }
  }
  await completeMoves(database, eventStore, await openMoves(database, 'all'));
  const moved = await moveAdsOfSharedHosts(database, eventStore);
  if (position !== null) await saveFoldedTo(database, position);
  log?.info({ events, moved, position: String(position) }, 'working tables caught up');
  return { waiting, position, events };
};
