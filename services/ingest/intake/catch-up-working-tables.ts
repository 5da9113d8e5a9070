import { AD_LIBRARY } from '#contracts/events/corpus/ad-library.ts';
import { idOf, type RecordedEvent } from '#contracts/events/event.ts';
import { UnreadableEvent, canRead, versionOf } from '#contracts/events/schema-registry.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { catchUpLibrary } from '../ad-library/catch-up-library.ts';
import { completeMoves } from '../attribution/complete-moves.ts';
import { openMoves } from '../attribution/move-log.ts';
import { moveAdsOfSharedHosts } from '../attribution/move-ads.ts';
import { foldEvent } from './folded-streams.ts';
import { foldStream } from './pending-folds.ts';
import type { Followed } from '#platform/event-store/catch-up-subscription.ts';
import { pause } from '#platform/clock.ts';

/** Meanwhile the command that appended an event writes it to the tables itself, without reading the stream. */
const BATCH_MS = 1_000;
const AGAIN_MS = 5_000;

type Options = {
  readonly database: Database;
  readonly eventStore: EventStore;
  readonly log?: Log | undefined;
};

/**
 * Stores its position, so that the next start reads little. Skips libraries: the expected revision proves their tables,
 * and a mark names an interrupted command. Several processes may follow.
 */
export const followWorkingTables = (
  { database, eventStore, log }: Options,
  { waiting, position: from }: Pick<CaughtUp, 'waiting' | 'position'>,
): AsyncDisposable => {
  const ending = new AbortController();
  let position = from;

  const fold = async (items: readonly Followed[]): Promise<void> => {
    const before = position;
    for (const item of items) {
      if (item.kind === 'checkpoint') ({ position } = item);
      else if (item.kind === 'event') {
        if (!(await waiting.setAside(item.event))) await foldEvent(database, item.event);
        ({ position } = item.event);
      }
    }
    if (position !== null && position !== before) await moveFoldedTo(database, position);
  };

  const follow = async (): Promise<void> => {
    await using follower = eventStore.follow({
      after: position,
      prefixes: [...FOLDED_PREFIXES],
      bufferItems: BATCH_EVENTS,
    });
    const stop = (): void => void follower[Symbol.asyncDispose]();
    ending.signal.addEventListener('abort', stop, { once: true });
    try {
      while (!ending.signal.aborted) {
        await pause(BATCH_MS, ending.signal);
        const items = await follower.take(BATCH_EVENTS);
        if (items.length === 0) return;
        await fold(items);
      }
    } finally {
      ending.signal.removeEventListener('abort', stop);
    }
  };

  const following = (async (): Promise<void> => {
    while (!ending.signal.aborted) {
      try {
        await follow();
      } catch (error) {
        if (ending.signal.aborted) return;
        log?.warn({ reason: (error as Error).message }, 'brands and links not followed; retrying');
        await pause(AGAIN_MS, ending.signal);
      }
    }
  })();
  return {
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await following;
    },
  };
};

/** Streams with an event of a newer release wait from it on, because their order matters; others are folded. */
type WaitingStreams = {
  /** True for an unreadable event, and for events of a stream that waits. */
  setAside(event: RecordedEvent): Promise<boolean>;
};

const openWaitingStreams = async (
  database: Database,
  eventStore: EventStore,
  log: Log | undefined,
): Promise<WaitingStreams> => {
  const { rows } = await database.query<{ stream: string; type: string; version: number }>(
    'select stream, type, version from ingest.waiting_stream',
  );
  const waiting = new Set(rows.map(({ stream }) => stream));
  for (const row of rows) {
    if (!canRead(row)) continue;
    try {
      await foldStream(database, eventStore, row.stream);
    } catch (error) {
      // A later event of the stream waits for an even newer release.
      if (!(error instanceof UnreadableEvent)) throw error;
      continue;
    }
    waiting.delete(row.stream);
    await database.query('delete from ingest.waiting_stream where stream = $1', [row.stream]);
    log?.info({ stream: row.stream }, 'waiting stream folded');
  }
  return {
    setAside: async (event) => {
      const { stream, type } = event;
      if (waiting.has(stream)) return true;
      if (event.unreadable === undefined) return false;
      waiting.add(stream);
      await database.query(
        'insert into ingest.waiting_stream (stream, type, version) values ($1, $2, $3) on conflict do nothing',
        [stream, type, versionOf(event)],
      );
      log?.error({ err: new UnreadableEvent(event), stream }, 'stream waits for a release');
      return true;
    },
  };
};

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
