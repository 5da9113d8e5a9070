import type { RecordedEvent } from '#contracts/events/event.ts';
import { versionOf } from '#contracts/events/schema-registry.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

/**
 * Streams that wait for a release. The first waiting event of each has a type or version that this release cannot
 * read. Later events of the stream wait behind it, because the order within a stream matters.
 */
export type WaitingStreams = {
  /** Loads which of these streams wait. Needed before `setAside`: all of them would fill the memory. */
  load(streams: readonly string[]): Promise<void>;
  /**
   * Sets the event aside when this release cannot read it, or when its stream waits already. Returns whether it was
   * set aside.
   */
  setAside(event: RecordedEvent): boolean;
  /** Removes the events of a stream up to this revision. Called once they are matched. */
  remove(stream: string, revision: bigint): void;
  /** Returns the unreadable events that made a stream wait since the last call. */
  takeNew(): readonly RecordedEvent[];
  /** Writes the changes since the last save. */
  save(client: Transaction): Promise<void>;
  /** Removes the loaded streams from memory. Call it after `save`. */
  forget(): void;
};

export const openWaitingStreams = (database: Database): WaitingStreams => {
  const waiting = new Set<string>();
  const added: RecordedEvent[] = [];
  const removed = new Map<string, bigint>();
  let firsts: RecordedEvent[] = [];
  return {
    load: async (streams) => {
      const { rows } = await database.query<{ stream: string }>({
        name: 'waiting streams of a batch',
        text: `select s.stream from unnest($1::text[]) s (stream)
               where exists (select from alerting.waiting_event w where w.stream = s.stream)`,
        values: [streams],
      });
      for (const { stream } of rows) waiting.add(stream);
    },
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
    forget: () => waiting.clear(),
  };
};
