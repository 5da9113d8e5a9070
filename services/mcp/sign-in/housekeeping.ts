import { pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { deleteDeadRecords, keepUsedClients } from './adapter.ts';
import type { Connections } from './connections.ts';

const RUN_EVERY_MS = 60_000;

export type HousekeepingDependencies = {
  readonly pool: Database;
  readonly connections: Connections;
  /** Absent when members cannot sign in. */
  readonly signIn?: { tidy(): Promise<number> };
  readonly log: Log;
};

/** Ends dead connections and deletes dead records. Runs in every process; concurrent runs are harmless. */
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
