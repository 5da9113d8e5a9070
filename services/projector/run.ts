import { openEventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import { openLeaderLocks } from '#platform/postgres/leader-lock.ts';
import { createPipeline } from '#platform/postgres/pipelined-transaction.ts';
import { LONG_STATEMENT_TIMEOUT_MS, openPool } from '#platform/postgres/pool.ts';
import { runWithRestarts } from '#platform/process/run-with-restarts.ts';
import type { Projection } from '#projections/define-projection.ts';
import { createProjectorTables } from './apply/checkpoints.ts';
import { listenForRequests } from './control/operator-requests.ts';
import { runCycles } from './scheduler.ts';
import { createWakeSignal } from '#platform/concurrency/wake-signal.ts';

/** Maximum connections of live projecting. */
const POOL_CLIENTS = 8;
/** Maximum connections of rebuilds and verifications. */
const BUILDING_CLIENTS = 8;
/**
 * Commits do not wait for the disk. Rows and checkpoint are lost together or not at all, so after a power cut
 * the missing events are applied again.
 */
const ASYNC_COMMIT = { options: '-c synchronous_commit=off' };
/**
 * Options of the live connection. Live batches are a few rows from arrays: planning a statement costs more
 * than running it, and one generic plan fits all.
 */
const GENERIC_PLANS = { options: `${ASYNC_COMMIT.options} -c plan_cache_mode=force_generic_plan` };

export type ProjectorSettings = {
  readonly databaseUrl: string;
  readonly eventStoreUrl: string;
  readonly projections: readonly Projection[];
  readonly log: Log;
  readonly signal: AbortSignal;
};

/**
 * Runs the projections owned by this process until the signal. After any failure (a server is gone, the locks
 * are lost) it restarts from the checkpoints. Rows and checkpoint move in one transaction, so no event is
 * applied twice or left out.
 */
export const runProjections = async (settings: ProjectorSettings): Promise<void> => {
  const { databaseUrl, projections, log, signal } = settings;
  const wakeSignal = createWakeSignal();
  await using resources = new AsyncDisposableStack();
  const database = openPool(databaseUrl, POOL_CLIENTS, ASYNC_COMMIT);
  resources.defer(() => database.end());
  const building = openPool(databaseUrl, BUILDING_CLIENTS, {
    ...ASYNC_COMMIT,
    statement_timeout: LONG_STATEMENT_TIMEOUT_MS,
  });
  resources.defer(() => building.end());
  const pipeline = resources.use(createPipeline(databaseUrl, GENERIC_PLANS));
  const eventStore = resources.use(openEventStore(settings.eventStoreUrl));
  resources.use(listenForRequests(databaseUrl, log, wakeSignal.notify));
  await runWithRestarts({
    message: 'projecting interrupted; restarting from the checkpoints',
    log,
    signal,
    run: async () => {
      await createProjectorTables(database);
      await using locks = await openLeaderLocks(databaseUrl);
      const ending = AbortSignal.any([signal, locks.lost]);
      await runCycles(
        { database, building, pipeline, eventStore, ownership: locks, projections, log, signal: ending },
        wakeSignal,
      );
    },
  });
};
