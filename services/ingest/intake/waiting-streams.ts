import type { RecordedEvent } from '#contracts/events/event.ts';
import { canRead, UnreadableEvent, versionOf } from '#contracts/events/schema-registry.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { foldStream } from './pending-folds.ts';

/** Streams with an event of a newer release wait from it on, because their order matters; others are folded. */
export type WaitingStreams = {
  /** True for an unreadable event, and for events of a stream that waits. */
  setAside(event: RecordedEvent): Promise<boolean>;
};

export const openWaitingStreams = async (
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
