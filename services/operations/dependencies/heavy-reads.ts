import { availableParallelism } from 'node:os';
import { Refusal } from '#contracts/errors.ts';
import type { LoopLoad } from '#platform/process/loop-delay.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';

/**
 * Limits of heavy reads in one process. `HEAVY_IN_FLIGHT_MAX` is the number of connections for them
 * (`platform/postgres/pool.ts`), so that a search that may run never waits for a connection.
 */
export const HEAVY_IN_FLIGHT_MAX = 6;
/**
 * Maximum heavy reads of one workspace that run at the same time: 2, and 1 on a machine of two processors, which it often
 * shares with the database. Two searches would take both, and every other read would wait for a processor.
 */
export const HEAVY_PER_WORKSPACE_MAX = Math.min(2, Math.max(1, availableParallelism() - 1));
/** Maximum heavy reads that wait, of all workspaces and of one. */
const WAITING_MAX = 64;
export const WAITING_PER_WORKSPACE_MAX = 8;
/** Milliseconds that a heavy read may wait. */
export const HEAVY_WAIT_MS = 2_000;
/** Seconds after which a refused caller may try again. */
const RETRY_AFTER_SECONDS = 1;

const refusal = (): Refusal =>
  new Refusal(
    'overloaded',
    `Too many searches at once. In a workspace, at most ${HEAVY_PER_WORKSPACE_MAX} run and ${WAITING_PER_WORKSPACE_MAX} wait for up to ${HEAVY_WAIT_MS / 1_000} s. Send the next one when one has ended, or narrow it to a brand.`,
    [],
    RETRY_AFTER_SECONDS,
  );

const busy = (): Refusal =>
  new Refusal(
    'overloaded',
    'This server is busy and refuses searches. Try again in a moment.',
    [],
    RETRY_AFTER_SECONDS,
  );

type Waiting = { readonly workspaceId: string; readonly start: () => void };

/** Bounds searches, which take up to seconds each, so that one workspace cannot occupy the connections of all. */
export type HeavyReads = {
  /** Returns the database as a workspace may use it. `slow` throws `Refusal` when too many searches run or wait. */
  of(db: ReadDatabase, workspaceId: string): ReadDatabase;
};

export type HeavyReadOptions = {
  readonly waitMs?: number;
  /** Load of the event loop: searches are the first work that is refused. */
  readonly loopLoad?: LoopLoad | undefined;
};

export const createHeavyReads = ({ waitMs = HEAVY_WAIT_MS, loopLoad }: HeavyReadOptions = {}): HeavyReads => {
  const running = new Map<string, number>();
  let inFlight = 0;
  const queue: Waiting[] = [];

  const mayStart = (workspaceId: string): boolean =>
    inFlight < HEAVY_IN_FLIGHT_MAX && (running.get(workspaceId) ?? 0) < HEAVY_PER_WORKSPACE_MAX;
  const take = (workspaceId: string): void => {
    inFlight += 1;
    running.set(workspaceId, (running.get(workspaceId) ?? 0) + 1);
  };

  const enter = (workspaceId: string): void | Promise<void> => {
    if (loopLoad !== undefined && loopLoad.refused() !== 'nothing') throw busy();
    if (mayStart(workspaceId)) return take(workspaceId);
    const own = queue.filter((one) => one.workspaceId === workspaceId).length;
    if (queue.length >= WAITING_MAX || own >= WAITING_PER_WORKSPACE_MAX) throw refusal();
    return new Promise((resolve, reject) => {
      const waiting = {
        workspaceId,
        start: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(waiting), 1);
        reject(refusal());
      }, waitMs);
      queue.push(waiting);
    });
  };

  const leave = (workspaceId: string): void => {
    inFlight -= 1;
    const left = (running.get(workspaceId) ?? 1) - 1;
    if (left === 0) running.delete(workspaceId);
    else running.set(workspaceId, left);
    // The first one that may start: those of a workspace at its limit let others pass.
    const place = queue.findIndex((one) => mayStart(one.workspaceId));
    const [next] = place < 0 ? [] : queue.splice(place, 1);
    if (!next) return;
    take(next.workspaceId);
    next.start();
  };

  return {
    of: (db, workspaceId) => ({
      query: (statement) => db.query(statement),
      slow: async (statement) => {
        await enter(workspaceId);
        try {
          return await db.slow(statement);
        } finally {
          leave(workspaceId);
        }
      },
    }),
  };
};
