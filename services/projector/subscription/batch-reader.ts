import type { RecordedEvent } from '#contracts/events/event.ts';
import { pause } from '#platform/clock.ts';
import type { Follower } from '#platform/event-store/catch-up-subscription.ts';

const LIVE_BATCH = 1_000;
const CATCH_UP_BATCH = 5_000;
const CATCH_UP_BATCH_WINDOW_MS = 250;
/** Waits 3 ms for more events, so that fewer commits compete with writers. */
const LIVE_BATCH_WINDOW_MS = 3;
const BATCH_WINDOW_FROM_EVENTS = 50;
/** Byte limit of a batch: each projection holds its rows in memory. Usual events reach the number limit first. */
export const BATCH_BYTES_MAX = 16 * 1024 * 1024;

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
