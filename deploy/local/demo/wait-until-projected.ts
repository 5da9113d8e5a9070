import { pause } from '#platform/clock.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { openPool } from '#platform/postgres/pool.ts';

const POLL_MS = 100;
/**
 * The newest events may concern no projection, so no position reaches the head. Live projections count as done after
 * this time without a change.
 */
const IDLE_MS = 2_000;
const STALLED_MS = 120_000;
/** The event store client may hang after a read that ended early. */
const DISPOSE_LIMIT_MS = 500;

type ProjectionStatus = { readonly position: bigint; readonly isLive: boolean; readonly count: number };

/** Throws when a projection has failed or none makes progress. */
export const waitUntilProjected = async (
  databaseUrl: string,
  eventStoreUrl: string,
  signal: AbortSignal,
  onProgress: (share: number) => void,
): Promise<void> => {
  const database = openPool(databaseUrl, 1);
  const eventStore = openEventStore(eventStoreUrl);
  try {
    const head = await eventStore.head();
    let before = -1n;
    let movedMs = Date.now();
    for (;;) {
      const status = await readProjectionStatus(database);
      if (status.count > 0 && status.position >= head) return;
      if (status.position !== before) movedMs = Date.now();
      before = status.position;
      const unchangedMs = Date.now() - movedMs;
      if (status.count > 0 && status.isLive && unchangedMs > IDLE_MS) return;
      if (unchangedMs > STALLED_MS) {
        throw new Error(
          `The projections have made no progress for ${STALLED_MS / 1_000} seconds. See the projector's log.`,
        );
      }
      onProgress(head === 0n ? 1 : Number(status.position) / Number(head));
      signal.throwIfAborted();
      await pause(POLL_MS, signal);
    }
  } finally {
    await Promise.race([eventStore[Symbol.asyncDispose](), pause(DISPOSE_LIMIT_MS)]);
    await database.end();
  }
};

const readProjectionStatus = async (database: ReturnType<typeof openPool>): Promise<ProjectionStatus> => {
  try {
    const { rows } = await database.query<{
      name: string;
      position: string;
      state: string;
      last_error: string | null;
    }>('select name, position::text, state, last_error from projector.projection');
    const failed = rows.find(({ state }) => state === 'failed');
    if (failed !== undefined)
      throw new Error(`The projection ${failed.name} has failed: ${failed.last_error}`);
    const positions = rows.map(({ position }) => BigInt(position));
    return {
      count: rows.length,
      isLive: rows.every(({ state }) => state === 'live'),
      position: positions.reduce(
        (least, position) => (position < least ? position : least),
        positions[0] ?? 0n,
      ),
    };
  } catch (error) {
    // The projector has not created its tables yet.
    const { code } = error as { code?: string };
    if (code === '42P01' || code === '3F000') return { count: 0, isLive: false, position: -1n };
    throw error;
  }
};
