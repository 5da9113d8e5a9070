import { pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { deleteDeadRecords, keepUsedClients } from './adapter.ts';
import type { Connections } from './connections.ts';

/** Milliseconds between two runs. Nothing waits for a run: dead connections and records are refused before it. */
const RUN_EVERY_MS = 60_000;

export type HousekeepingDependencies = {
  readonly pool: Database;
  readonly connections: Connections;
  /** Removes expired codes, links and browsers. Absent where members cannot sign in. */
  readonly signIn?: { tidy(): Promise<number> };
  readonly log: Log;
};

/**
 * Records the end of connections that have expired or whose member was erased, and deletes records that nothing
 * accepts. Runs in every process until the signal is aborted; several may do the same work at once.
 */
export const startHousekeeping = (
  { pool, connections, signIn, log }: HousekeepingDependencies,
  everyMs: number = RUN_EVERY_MS,
): AsyncDisposable => {
  const ending = new AbortController();
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      try {
        const ended = await connections.endDead();
        await keepUsedClients(pool);
        const deleted = (await deleteDeadRecords(pool)) + ((await signIn?.tidy()) ?? 0);
        if (ended + deleted > 0) log.info({ ended, deleted }, 'dead connections and records removed');
      } catch (error) {
        log.warn({ err: error }, 'housekeeping of connections failed');
      }
      await pause(everyMs, ending.signal);
    }
  };
  const running = run();
  return {
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await running;
    },
  };
};
