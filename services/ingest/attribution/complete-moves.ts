import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { UnreadableEvent } from '#contracts/events/schema-registry.ts';
import { adsNowOf } from '#domain/corpus/ad-library/state.ts';
import { handleCommand, SCAN_CONFLICTS } from '#application/commands/command-handler.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { createLibraryStateStore } from '../ad-library/library-state-store.ts';
import { loadAds, type OpenLibrary } from '../ad-library/library-store.ts';
import { movesToComplete, type OpenMoves } from './move-log.ts';

const MOVES_AT_ONCE = 100;

const completeFor = async (database: Database, eventStore: EventStore, open: OpenMoves): Promise<number> => {
  const store = createLibraryStateStore(database, eventStore, open.to_brand_id, open.scan_id);
  const decide = async function* (library: OpenLibrary): AsyncGenerator<readonly AdLibraryEvent[]> {
    for (let after = ''; ; ) {
      const moves = await movesToComplete(database, open, after, MOVES_AT_ONCE);
      await loadAds(
        database,
        library,
        moves.map(({ ad_id }) => ad_id),
      );
      const own = { ...adsNowOf(library.state) };
      yield moves.map((move) => {
        own.total += 1;
        if (move.ad.status !== 'inactive') own.active += 1;
        return { type: 'AdAttributed', data: { ...move, brand_id: open.to_brand_id, ads_now: { ...own } } };
      });
      if (moves.length < MOVES_AT_ONCE) return;
      after = moves.at(-1)?.ad_id ?? after;
    }
  };
  await handleCommand({ store, decide, conflicts: SCAN_CONFLICTS });
  return store.appended();
};

/**
 * Appends moves that only the former brand's stream has, after a crash between both appends (rule 10). Safe in several
 * processes: the loser rereads the stream.
 */
export const completeMoves = async (
  database: Database,
  eventStore: EventStore,
  moves: readonly OpenMoves[],
): Promise<number> => {
  let events = 0;
  for (const open of moves) {
    try {
      events += await completeFor(database, eventStore, open);
    } catch (error) {
      // The stream waits for a release that can read it, whose start completes the move.
      if (!(error instanceof UnreadableEvent)) throw error;
    }
  }
  return events;
};
