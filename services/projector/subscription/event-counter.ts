import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** Counts are stored no more often than this: lag in events is right to so long. */
const STORE_MS = 1_000;

/**
 * Counts the events of the log by stream category, as what lag in events is counted against. One process counts; it is
 * fed with what its projections read anyway, or reads ahead alone when these are far behind.
 */
export type LogCounter = {
  /** Everything up to here is counted. */
  position(): bigint;
  feed(events: readonly RecordedEvent[], position: bigint): void;
  /** Stores what is counted, when it is time or `now`. */
  store(now?: boolean): Promise<void>;
};

export const openLogCounter = async (database: Database): Promise<LogCounter> => {
  const { rows } = await database.query<{ position: string }>('select position from projector.log');
  let position = BigInt(rows[0]?.position ?? 0);
  let stored = position;
  let storedAtMs = 0;
  let storing: Promise<void> = Promise.resolve();
  let counts = new Map<string, number>();

  const storeCounts = async (now: boolean): Promise<void> => {
    if (position === stored || (!now && performance.now() - storedAtMs < STORE_MS)) return;
    const counted = counts;
    const upTo = position;
    counts = new Map();
    storedAtMs = performance.now();
    // One statement, so that counts and position move together, and only from where this process left them.
    const { rows: moved } = await database.query(
      `with moved as (
         insert into projector.log as l (position) values ($1)
         on conflict (is_only) do update set position = excluded.position, updated_at = now() where l.position = $2
         returning 1
       ), counted as (
         insert into projector.log_count as c (category, facts)
         select category, facts from unnest($3::text[], $4::bigint[]) i(category, facts), moved
         on conflict (category) do update set facts = c.facts + excluded.facts
       )
       select 1 from moved`,
      [upTo, stored, [...counted.keys()], [...counted.values()]],
    );
    if (moved.length === 0) throw new Error('another process counts the log');
    stored = upTo;
  };

  return {
    position: () => position,
    feed: (events, upTo) => {
      if (upTo <= position) return;
      for (const event of events) {
        if (event.position <= position) continue;
        const category = event.stream.slice(0, event.stream.indexOf('-') + 1);
        counts.set(category, (counts.get(category) ?? 0) + 1);
      }
      position = upTo;
    },
    store: (now = false) => {
      // One after the other: each begins where the one before it ended.
      storing = storing.then(() => storeCounts(now));
      return storing;
    },
  };
};
