import type { RecordedEvent } from '#contracts/events/event.ts';
import { pause } from '#platform/clock.ts';
import type { Follower } from '#platform/event-store/catch-up-subscription.ts';

/** Batch limits: events of a live batch, and events or milliseconds of a batch while far behind. */
const LIVE_BATCH = 1_000;
const CATCH_UP_BATCH = 5_000;
const CATCH_UP_BATCH_WINDOW_MS = 250;
/** Batching window under load: wait 3 ms for more events, so that fewer commits compete with the writers. */
const LIVE_BATCH_WINDOW_MS = 3;
const BATCH_WINDOW_FROM_EVENTS = 50;
/**
 * Bytes of events that end a batch. Each projection holds the rows of a batch in memory until they are written. Events of
 * usual size reach the limit of their number first.
 */
export const BATCH_BYTES_MAX = 16 * 1024 * 1024;

/** Returns a function that reads the next batch, or `null` once the follower is closed. */
export const createBatchReader = (follower: Follower) => {
  let isCaughtUp = false;
  let lastBatchEvents = 0;
  return async () => {
    if (isCaughtUp && lastBatchEvents >= BATCH_WINDOW_FROM_EVENTS) await pause(LIVE_BATCH_WINDOW_MS);
    const events: RecordedEvent[] = [];
    let bytes = 0;
    let position = 0n;
    // Far behind, writing is faster than reading. Without this window, every few events would cost a commit.
    const windowEndsMs = performance.now() + CATCH_UP_BATCH_WINDOW_MS;
    do {
      const items = await follower.take(
        isCaughtUp ? LIVE_BATCH : CATCH_UP_BATCH - events.length,
        BATCH_BYTES_MAX - bytes,
      );
      if (items.length === 0) return null;
      for (const item of items) {
        if (item.kind === 'event') {
          events.push(item.event);
          bytes += item.bytes;
          position = item.event.position;
        } else if (item.kind === 'checkpoint') position = item.position;
        else isCaughtUp = true;
      }
    } while (
      !isCaughtUp &&
      events.length < CATCH_UP_BATCH &&
      bytes < BATCH_BYTES_MAX &&
      performance.now() < windowEndsMs
    );
    lastBatchEvents = events.length;
    return { events, position, isCaughtUp };
  };
};
