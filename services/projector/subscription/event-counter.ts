import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** Minimum milliseconds between two writes of the counts. Lag in events is exact to this interval. */
const STORE_MS = 1_000;

/**
 * Counts the events of the log by stream category, from which lag in events is computed, and notes the newest one, by which
 * processes know the log again (`run.known_event`). One process counts. It uses the batches that its projections read, or reads the log on its own if these are far behind.
 */
export type EventCounter = {
  /** Every event up to this position is counted. */
  position(): bigint;
  add(events: readonly RecordedEvent[], position: bigint): void;
  /** Stores the counts if the interval has passed, or at once if `now`. */
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
    // One statement moves counts and position together, and only from where this process left them.
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
      // Writes run one after the other: each starts from the position the last one stored.
      storing = storing.then(() => storeCounts(now));
      return storing;
    },
  };
};
