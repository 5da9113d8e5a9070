import { UnreadableEvent } from '#contracts/events/schema-registry.ts';
import { CONNECTION } from '#contracts/events/workspace/connection.ts';
import { API_KEYS, WORKSPACE } from '#contracts/events/workspace/workspace.ts';
import { pause } from '#platform/clock.ts';
import { runWithRestarts } from '#platform/process/run-as-leader.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import {
  applyRecorded,
  createAccessTables,
  moveAccessCheckpoint,
  readAccessCheckpoint,
  readAppliedRevisions,
} from './access-tables.ts';

const PREFIXES = [`${WORKSPACE}-`, `${API_KEYS}-`, `${CONNECTION}-`];
const BATCH_MAX = 1_000;
const BUFFER_ITEMS = 5_000;
const RECONNECT_MS = 1_000;
/** Commands update the tables themselves. Without this delay the subscription would compete for their row locks. */
const BEHIND_COMMANDS_MS = 250;

export type AccessSubscription = AsyncDisposable & {
  /** Resolves when the tables have caught up with the log once. */
  readonly filled: Promise<void>;
};

/** Repairs the access tables after a crash between append and update, and fills them on first start. */
export const startAccessSubscription = (
  pool: Database,
  eventStore: EventStore,
  log: Log,
): AccessSubscription => {
  const ending = new AbortController();
  const filled = Promise.withResolvers<void>();

  const followOnce = async (): Promise<void> => {
    await createAccessTables(pool);
    let reached = await readAccessCheckpoint(pool);
    let waitsForRelease = false;
    await using follower = eventStore.follow({
      after: reached,
      prefixes: PREFIXES,
      bufferItems: BUFFER_ITEMS,
    });
    ending.signal.addEventListener('abort', () => void follower[Symbol.asyncDispose](), { once: true });
    // The condition covers an abort before the listener was added; a later abort closes the follower.
    for (let isCaughtUp = false; !ending.signal.aborted; ) {
      if (isCaughtUp) await pause(BEHIND_COMMANDS_MS, ending.signal);
      const items = await follower.take(BATCH_MAX);
      if (items.length === 0) return;
      const newest = new Map<string, bigint>();
      for (const item of items) if (item.kind === 'event') newest.set(item.event.stream, item.event.revision);
      // Usually the command has applied its own events already.
      const folded = newest.size === 0 ? newest : await readAppliedRevisions(pool, [...newest.keys()]);
      for (const [stream, revision] of newest) {
        if ((folded.get(stream) ?? -1n) >= revision) continue;
        try {
          // The checkpoint must not pass an event that the reading connection does not show yet.
          if (!(await applyRecorded(pool, eventStore, stream, revision)))
            throw new Error(`the event store does not show revision ${revision} of ${stream} yet`);
        } catch (error) {
          if (!(error instanceof UnreadableEvent)) throw error;
          // The stream waits for a release that can read it. The checkpoint stays, so that this release reads it again.
          waitsForRelease = true;
          log.error({ err: error, stream }, 'access stream waits for a release');
        }
      }
      const position = items.reduce((furthest, item) => {
        const at =
          item.kind === 'event' ? item.event.position : item.kind === 'checkpoint' ? item.position : 0n;
        return at > furthest ? at : furthest;
      }, 0n);
      if (position > 0n && !waitsForRelease) {
        if (!(await moveAccessCheckpoint(pool, reached, position))) return;
        reached = position;
      }
      isCaughtUp ||= items.some((item) => item.kind === 'caught_up');
      if (isCaughtUp) filled.resolve();
    }
  };

  const following = runWithRestarts({
    message: 'access subscription failed; restarting',
    log,
    signal: ending.signal,
    run: async () => {
      await followOnce();
      await pause(RECONNECT_MS, ending.signal);
    },
  });

  return {
    filled: filled.promise,
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await following;
    },
  };
};
