import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Database } from '#platform/postgres/pool.ts';

const STORE_MS = 1_000;

/**
 * Counts events by stream category, for the lag. Records the newest one in `run.known_event`, which identifies the log.
 */
export type EventCounter = {
  position(): bigint;
  add(events: readonly RecordedEvent[], position: bigint): void;
  store(now?: boolean): Promise<void>;
};

export const openEventCounter = async (database: Database): Promise<EventCounter> => {
  const { rows } = await database.query<{ position: string }>('select position from projector.log');
  let position = BigInt(rows[0]?.position ?? 0);
  let stored = position;
  let storedAtMs = 0;
  let storing: Promise<void> = Promise.resolve();
  let counts = new Map<string, number>();
  let newest: RecordedEvent | null = null;

  const storeCounts = async (now: boolean): Promise<void> => {
    if (position === stored || (!now && performance.now() - storedAtMs < STORE_MS)) return;
    const counted = counts;
    const upTo = position;
    const known = newest;
    counts = new Map();
    storedAtMs = performance.now();
    // One statement moves counts and position, only from the position that this process stored.
    const { rows: moved } = await database.query(
      `with moved as (
         insert into projector.log as l (position) values ($1)
         on conflict (is_only) do update set position = excluded.position, updated_at = now() where l.position = $2
         returning 1
       ), counted as (
         insert into projector.log_count as c (category, facts)
         select category, facts from unnest($3::text[], $4::bigint[]) i(category, facts), moved
         on conflict (category) do update set facts = c.facts + excluded.facts
       ), known as (
         insert into run.known_event as k (position, event_id)
         select $5::bigint, $6::uuid from moved where $5::bigint is not null
         on conflict (is_only) do update set position = excluded.position, event_id = excluded.event_id
       )
       select 1 from moved`,
      [upTo, stored, [...counted.keys()], [...counted.values()], known?.position ?? null, known?.id ?? null],
    );
    if (moved.length === 0) throw new Error('another process counts the events of the log');
    stored = upTo;
  };

  return {
    position: () => position,
    add: (events, upTo) => {
      if (upTo <= position) return;
      for (const event of events) {
        if (event.position <= position) continue;
        const category = event.stream.slice(0, event.stream.indexOf('-') + 1);
        counts.set(category, (counts.get(category) ?? 0) + 1);
        newest = event;
      }
      position = upTo;
    },
    store: (now = false) => {
      // Serial writes: each starts from the position that the previous one stored.
      storing = storing.then(() => storeCounts(now));
      return storing;
    },
  };
};
