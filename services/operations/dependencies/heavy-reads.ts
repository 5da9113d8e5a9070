import { availableParallelism } from 'node:os';
import { Refusal } from '#contracts/errors.ts';
import type { LoopLoad } from '#platform/process/loop-delay.ts';
import type { ReadDatabase, ReadQuery } from '#contracts/ports/read-database.ts';
import { createReadPlaces } from './read-places.ts';

/**
 * Limits of heavy reads in one process. There are `HEAVY_IN_FLIGHT_MAX` connections for searches, and as many for slow statements
 * (`platform/postgres/pool.ts`), so that a read that may run never waits for a connection.
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
    `Too many searches or other long reads at once. In a workspace, at most ${HEAVY_PER_WORKSPACE_MAX} run and ${WAITING_PER_WORKSPACE_MAX} wait for up to ${HEAVY_WAIT_MS / 1_000} s. Send the next one when one has ended, or narrow it to a brand.`,
    [],
    RETRY_AFTER_SECONDS,
  );

const crowded = (): Refusal =>
  new Refusal(
    'overloaded',
    'Too many reads of this workspace at once. Send the next one when one has ended.',
    [],
    RETRY_AFTER_SECONDS,
  );

const busy = (): Refusal =>
  new Refusal(
    'overloaded',
    'This server is busy and refuses searches and other long reads. Try again in a moment.',
    [],
    RETRY_AFTER_SECONDS,
  );

/**
 * Limits of reads whose speed is not known, because their statement ran only a few times. A process that starts measures
 * each statement so. Light ones are known after three runs, and those that wait then run at once. Each that may run has a connection,
 * as slow ones have.
 */
const UNMEASURED_IN_FLIGHT_MAX = 4;
const UNMEASURED_PER_WORKSPACE_MAX = 2;
const UNMEASURED_WAITING_MAX = 2_048;
const UNMEASURED_WAITING_PER_WORKSPACE_MAX = 1_024;
const UNMEASURED_WAIT_MS = 5_000;

/**
 * Limits of fast reads. A workspace has half of what the pipelined connections carry (`platform/postgres/hot-connections.ts`), so
 * that one cannot use them up with their queue. The reads of others start before those that wait here.
 */
const FAST_IN_FLIGHT_MAX = 1_024;
export const FAST_PER_WORKSPACE_MAX = 128;
const FAST_WAITING_MAX = 2_048;
const FAST_WAITING_PER_WORKSPACE_MAX = 1_024;
const FAST_WAIT_MS = 2_000;

/**
 * Bounds the reads of each workspace, so that one cannot occupy the connections of all: searches, statements that are slow or
 * whose speed is not known, and very many fast ones.
 */
export type HeavyReads = {
  /** Returns the database as a workspace may use it. It throws `Refusal` when too many of its reads run or wait. */
  of(db: ReadDatabase, workspaceId: string): ReadDatabase;
};

export type HeavyReadOptions = {
  readonly waitMs?: number;
  /** Load of the event loop: heavy reads are the first work that is refused. */
  readonly loopLoad?: LoopLoad | undefined;
};

export const createHeavyReads = ({ waitMs = HEAVY_WAIT_MS, loopLoad }: HeavyReadOptions = {}): HeavyReads => {
  const heavy = createReadPlaces({
    inFlightMax: HEAVY_IN_FLIGHT_MAX,
    perWorkspaceMax: HEAVY_PER_WORKSPACE_MAX,
    waitingMax: WAITING_MAX,
    waitingPerWorkspaceMax: WAITING_PER_WORKSPACE_MAX,
    waitMs,
    refusal,
  });
  const unmeasured = createReadPlaces({
    inFlightMax: UNMEASURED_IN_FLIGHT_MAX,
    perWorkspaceMax: UNMEASURED_PER_WORKSPACE_MAX,
    waitingMax: UNMEASURED_WAITING_MAX,
    waitingPerWorkspaceMax: UNMEASURED_WAITING_PER_WORKSPACE_MAX,
    waitMs: UNMEASURED_WAIT_MS,
    refusal,
  });
  const fast = createReadPlaces({
    inFlightMax: FAST_IN_FLIGHT_MAX,
    perWorkspaceMax: FAST_PER_WORKSPACE_MAX,
    waitingMax: FAST_WAITING_MAX,
    waitingPerWorkspaceMax: FAST_WAITING_PER_WORKSPACE_MAX,
    waitMs: FAST_WAIT_MS,
    refusal: crowded,
  });

  const runHeavy = async <T>(
    workspaceId: string,
    read: () => Promise<T>,
    needsPlace?: () => boolean,
  ): Promise<T> => {
    if (loopLoad !== undefined && loopLoad.refused() !== 'nothing') throw busy();
    return heavy.run(workspaceId, read, needsPlace);
  };

  return {
    of: (db, workspaceId) => {
      const speedOf = (sql: string) => db.speedOf?.(sql) ?? 'fast';
      return {
        ...(db.speedOf ? { speedOf } : {}),
        query: async <Row>(statement: ReadQuery) => {
          const { sql } = statement;
          const read = (): Promise<readonly Row[]> => db.query<Row>(statement);
          const speed = speedOf(sql);
          if (speed === 'fast') return fast.run(workspaceId, read);
          const isNotFast = (): boolean => speedOf(sql) !== 'fast';
          if (speed === 'slow') return runHeavy(workspaceId, read, isNotFast);
          // The statement may turn out slow while the read waits.
          const found = await unmeasured.run(
            workspaceId,
            async () => (speedOf(sql) === 'slow' ? null : read()),
            () => speedOf(sql) === 'unknown',
          );
          return found ?? runHeavy(workspaceId, read, isNotFast);
        },
        slow: (statement) => runHeavy(workspaceId, () => db.slow(statement)),
      };
    },
  };
};
