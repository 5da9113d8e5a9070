import { pause } from '#platform/clock.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { openPool } from '#platform/postgres/pool.ts';

const POLL_MS = 100;
/**
 * The newest events of the log may be none that any projection follows, and then no position reaches the head:
 * live projections that stand still for this long have everything there is for them.
 */
const STANDING_STILL_MS = 2_000;
const STALLED_MS = 120_000;
/** Disposing of a client whose last read was left early may never end. */
const DISPOSE_LIMIT_MS = 500;

type Standing = { readonly position: bigint; readonly isLive: boolean; readonly count: number };

/** Waits until every projection shows what is in the log now. Fails when one of them has failed, or none moves. */
export const untilProjected = async (
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
      const standing = await readStanding(database);
      if (standing.count > 0 && standing.position >= head) return;
      if (standing.position !== before) movedMs = Date.now();
      before = standing.position;
      const stillMs = Date.now() - movedMs;
      if (standing.count > 0 && standing.isLive && stillMs > STANDING_STILL_MS) return;
      if (stillMs > STALLED_MS) {
        throw new Error(
          `The projections have not moved for ${STALLED_MS / 1_000} seconds; the projector's log says why.`,
        );
      }
      onProgress(head === 0n ? 1 : Number(standing.position) / Number(head));
      signal.throwIfAborted();
      await pause(POLL_MS, signal);
    }
  } finally {
    await Promise.race([eventStore[Symbol.asyncDispose](), pause(DISPOSE_LIMIT_MS)]);
    await database.end();
  }
};

const readStanding = async (database: ReturnType<typeof openPool>): Promise<Standing> => {
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
    // The projector has not made its tables yet.
    const { code } = error as { code?: string };
    if (code === '42P01' || code === '3F000') return { count: 0, isLive: false, position: -1n };
    throw error;
  }
};
