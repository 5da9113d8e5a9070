import type { RecordedEvent } from '#contracts/events/event.ts';
import { versionOf } from '#contracts/events/schema-registry.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

/**
 * A stream waits from an event that this release cannot read; later events wait behind it, because their order matters.
 */
export type WaitingStreams = {
  /** Needed before `setAside`: all waiting streams would fill the memory. */
  load(streams: readonly string[]): Promise<void>;
  /** Returns false for a readable event of a stream that does not wait. */
  setAside(event: RecordedEvent): boolean;
  /** Called once events up to this revision are matched. */
  remove(stream: string, revision: bigint): void;
  /** Unreadable events that made a stream wait since the last call. */
  takeNew(): readonly RecordedEvent[];
  save(client: Transaction): Promise<void>;
  /** Call it after `save`. */
  forget(): void;
  /** Counts what is in memory. */
  size(): number;
};

export const openWaitingStreams = (database: Database): WaitingStreams => {
  const waiting = new Set<string>();
  const loaded = new Set<string>();
  const added: RecordedEvent[] = [];
  const removed = new Map<string, bigint>();
  let firsts: RecordedEvent[] = [];
  return {
    load: async (streams) => {
      const unknown = streams.filter((stream) => !loaded.has(stream));
      if (unknown.length === 0) return;
      const { rows } = await database.query<{ stream: string }>({
        name: 'waiting streams of a batch',
        text: `select s.stream from unnest($1::text[]) s (stream)
               where exists (select from alerting.waiting_event w where w.stream = s.stream)`,
        values: [unknown],
      });
      for (const { stream } of rows) waiting.add(stream);
      for (const stream of unknown) loaded.add(stream);
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
      if (added.length + removed.size === 0) return;
      await Promise.all([
        client.query(
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
        ),
        client.query(
          `delete from alerting.waiting_event w using unnest($1::text[], $2::bigint[]) as r (stream, revision)
           where w.stream = r.stream and w.revision <= r.revision`,
          [[...removed.keys()], [...removed.values()]],
        ),
      ]);
      added.length = 0;
      removed.clear();
    },
    forget: () => {
      waiting.clear();
      loaded.clear();
    },
    size: () => loaded.size,
  };
};
