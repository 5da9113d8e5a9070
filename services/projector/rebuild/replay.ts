import type { RecordedEvent } from '#contracts/events/event.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { applyBatch, type Target } from '../apply/apply-batch.ts';
import { BATCH_BYTES_MAX } from '../subscription/batch-reader.ts';
import type { ExcludedEvents } from '../dead-letters/excluded-events.ts';

/** Larger batches gain nothing. */
const REPLAY_BATCH = 5_000;

export type Replay = {
  readonly target: Target;
  /** Exclusive; 0 reads from the beginning. */
  readonly after: bigint;
  /** Inclusive; `null` reads to the end of the log. */
  readonly to: bigint | null;
  readonly excluded: ExcludedEvents;
  readonly signal: AbortSignal;
  readonly onBatch?: (events: number) => void;
};

/** Applies events to tables without another writer. Returns the position reached. Throws `PoisonEvent`. */
export const replay = async (
  database: Database,
  eventStore: EventStore,
  { target, after, to, excluded, signal, onBatch }: Replay,
): Promise<bigint> => {
  let position = after;
  await using follower = eventStore.follow({
    after: position === 0n ? null : position,
    prefixes: target.projection.prefixes,
    bufferItems: REPLAY_BATCH * 2,
  });
  const stop = (): void => void follower[Symbol.asyncDispose]();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (let ended = false; !ended; ) {
      const batch: RecordedEvent[] = [];
      let bytes = 0;
      while (batch.length < REPLAY_BATCH && bytes < BATCH_BYTES_MAX && !ended) {
        const items = await follower.take(REPLAY_BATCH - batch.length, BATCH_BYTES_MAX - bytes);
        signal.throwIfAborted();
        for (const item of items) {
          if (ended) continue;
          if (item.kind === 'event') bytes += item.bytes;
          const at =
            item.kind === 'event' ? item.event.position : item.kind === 'checkpoint' ? item.position : null;
          if (at === null || (to !== null && at > to)) ended = true;
          else {
            position = at;
            if (item.kind === 'event' && !excluded.includes(item.event)) batch.push(item.event);
          }
        }
      }
      await applyBatch(database, target, batch, position);
      onBatch?.(batch.length);
    }
    return position;
  } finally {
    signal.removeEventListener('abort', stop);
  }
};
