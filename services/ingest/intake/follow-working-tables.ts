import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Followed } from '#platform/event-store/catch-up-subscription.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { pause } from '#platform/clock.ts';
import { BATCH_EVENTS, type CaughtUp, FOLDED_PREFIXES, moveFoldedTo } from './catch-up-working-tables.ts';
import { foldEvent } from './folded-streams.ts';

/** Meanwhile the command that appended an event writes it to the tables itself, without reading the stream. */
const BATCH_MS = 1_000;
const AGAIN_MS = 5_000;

type Options = {
  readonly database: Database;
  readonly eventStore: EventStore;
  readonly log?: Log | undefined;
};

/**
 * Stores its position, so that the next start reads little. Skips libraries: the expected revision proves their tables,
 * and a mark names an interrupted command. Several processes may follow.
 */
export const followWorkingTables = (
  { database, eventStore, log }: Options,
  { waiting, position: from }: Pick<CaughtUp, 'waiting' | 'position'>,
): AsyncDisposable => {
  const ending = new AbortController();
  let position = from;

  const fold = async (items: readonly Followed[]): Promise<void> => {
    const before = position;
    for (const item of items) {
      if (item.kind === 'checkpoint') ({ position } = item);
      else if (item.kind === 'event') {
        if (!(await waiting.setAside(item.event))) await foldEvent(database, item.event);
        ({ position } = item.event);
      }
    }
    if (position !== null && position !== before) await moveFoldedTo(database, position);
  };

  const follow = async (): Promise<void> => {
    await using follower = eventStore.follow({
      after: position,
      prefixes: [...FOLDED_PREFIXES],
      bufferItems: BATCH_EVENTS,
    });
    const stop = (): void => void follower[Symbol.asyncDispose]();
    ending.signal.addEventListener('abort', stop, { once: true });
    try {
      while (!ending.signal.aborted) {
        await pause(BATCH_MS, ending.signal);
        const items = await follower.take(BATCH_EVENTS);
        if (items.length === 0) return;
        await fold(items);
      }
    } finally {
      ending.signal.removeEventListener('abort', stop);
    }
  };

  const following = (async (): Promise<void> => {
    while (!ending.signal.aborted) {
      try {
        await follow();
      } catch (error) {
        if (ending.signal.aborted) return;
        log?.warn({ reason: (error as Error).message }, 'brands and links not followed; retrying');
        await pause(AGAIN_MS, ending.signal);
      }
    }
  })();
  return {
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await following;
    },
  };
};
