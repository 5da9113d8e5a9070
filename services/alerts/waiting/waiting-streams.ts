import type { RecordedEvent } from '#contracts/events/event.ts';
import { versionOf } from '#contracts/events/schema-registry.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

/**
 * Streams that wait for a release. The first waiting event of each has a type or version that this release cannot
 * read. Later events of the stream wait behind it, because the order within a stream matters.
 */
export type WaitingStreams = {
  /**
   * Sets the event aside when this release cannot read it, or when its stream waits already. Returns whether it was
   * set aside.
   */
  setAside(event: RecordedEvent): boolean;
  /** Removes the events of a stream up to this revision. Called once they are matched. */
  remove(stream: string, revision: bigint): void;
  /** Ends the waiting of a stream of which no event is left. */
  end(stream: string): void;
  /** Returns the unreadable events that made a stream wait since the last call. */
  takeNew(): readonly RecordedEvent[];
  /** Writes the changes since the last save. */
  save(client: Transaction): Promise<void>;
};

export const openWaitingStreams = async (database: Database): Promise<WaitingStreams> => {
  const { rows } = await database.query<{ stream: string }>(
    'select distinct stream from alerting.waiting_event',
  );
  const waiting = new Set(rows.map(({ stream }) => stream));
  const added: RecordedEvent[] = [];
  const removed = new Map<string, bigint>();
  let firsts: RecordedEvent[] = [];
  return {
    setAside: (event) => {
      const { stream } = event;
      if (!waiting.has(stream)) {
        if (event.unreadable === undefined) return false;
        waiting.add(stream);
        firsts.push(event);
      }
      added.push(event);
      return true;
    },
    remove: (stream, revision) => void removed.set(stream, revision),
    end: (stream) => void waiting.delete(stream),
    takeNew: () => {
      const taken = firsts;
      firsts = [];
      return taken;
    },
    save: async (client) => {
      if (added.length > 0) {
        await client.query(
          `insert into alerting.waiting_event (stream, revision, position, type, version)
           select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[])
           on conflict do nothing`,
          [
            added.map(({ stream }) => stream),
            added.map(({ revision }) => revision),
            added.map(({ position }) => position),
            added.map(({ type }) => type),
            added.map((event) => String(versionOf(event))),
          ],
        );
      }
      for (const [stream, revision] of removed) {
        await client.query('delete from alerting.waiting_event where stream = $1 and revision <= $2', [
          stream,
          revision,
        ]);
      }
      added.length = 0;
      removed.clear();
    },
  };
};
