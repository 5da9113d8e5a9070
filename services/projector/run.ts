import { pause } from '#platform/clock.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import { openOwnership } from '#platform/postgres/leader-lock.ts';
import { openPipeline } from '#platform/postgres/pipelined-transaction.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { backoffMs } from '#platform/concurrency/retry.ts';
import type { Projection } from '#projections/define-projection.ts';
import { createProjectorTables } from './apply/checkpoints.ts';
import { listenForRequests } from './control/operator-requests.ts';
import { openBell, runTurns } from './scheduler.ts';

const POOL_CLIENTS = 12;
/**
 * Rows are on disk with their checkpoint or neither is, so that what a power cut takes is applied again: no commit
 * waits for the disk.
 */
const REPEATABLE = { options: '-c synchronous_commit=off' };
/**
 * What has just arrived is a few rows from arrays, whatever is in them: planning its statements costs more than running
 * them, and one plan does for all.
 */
const PLANNED_ONCE = { options: `${REPEATABLE.options} -c plan_cache_mode=force_generic_plan` };
const RESTART_DELAYS = { attempts: Number.POSITIVE_INFINITY, firstDelayMs: 100, maxDelayMs: 5_000 };

export type ProjectorSettings = {
  readonly databaseUrl: string;
  readonly eventStoreUrl: string;
  readonly projections: readonly Projection[];
  readonly log: Log;
  readonly signal: AbortSignal;
};

/**
 * Runs the projections that this process owns until the signal. Whatever breaks (a server gone, the locks
 * lost), it starts again from the checkpoints: rows and checkpoint moved together, so nothing is applied
 * twice or left out.
 */
export const runProjections = async (settings: ProjectorSettings): Promise<void> => {
  const { databaseUrl, projections, log, signal } = settings;
  const bell = openBell();
  await using resources = new AsyncDisposableStack();
  const database = openPool(databaseUrl, POOL_CLIENTS, REPEATABLE);
  resources.defer(() => database.end());
  const pipeline = resources.use(openPipeline(databaseUrl, PLANNED_ONCE));
  const eventStore = resources.use(openEventStore(settings.eventStoreUrl));
  resources.use(listenForRequests(databaseUrl, log, bell.ring));
  for (let failures = 0; !signal.aborted; ) {
    const startedMs = performance.now();
    try {
      await createProjectorTables(database);
      await using ownership = await openOwnership(databaseUrl);
      const ending = AbortSignal.any([signal, ownership.lost]);
      await runTurns({ database, pipeline, eventStore, ownership, projections, log, signal: ending }, bell);
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ err: error }, 'projecting was interrupted; starting again from the checkpoints');
      if (performance.now() - startedMs > RESTART_DELAYS.maxDelayMs) failures = 0;
      await pause(backoffMs(failures, RESTART_DELAYS), signal);
      failures += 1;
    }
  }
};
