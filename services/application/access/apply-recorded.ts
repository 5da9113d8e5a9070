import { pause } from '#platform/clock.ts';
import { timeLeft } from '#platform/concurrency/time-budget.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { applyStream } from './access-tables.ts';

/** The event store may lag behind its own appends: reads may come from a node that follows the leader. */
const APPLY_WAIT_MS = 5_000;
const READ_AGAIN_MS = 50;

/** Applies a stream at least up to a recorded revision. Returns false when that was not shown in time. */
export const applyRecorded = async (
  pool: Database,
  eventStore: Pick<EventStore, 'read'>,
  stream: string,
  revision: bigint,
): Promise<boolean> => {
  const until = performance.now() + timeLeft(APPLY_WAIT_MS);
  for (;;) {
    if ((await applyStream(pool, eventStore, stream)) >= revision) return true;
    if (performance.now() >= until) return false;
    await pause(READ_AGAIN_MS);
  }
};
