import { openEventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import { LONG_STATEMENT_TIMEOUT_MS, openClosablePool, openPool } from '#platform/postgres/pool.ts';
import { FENCED_CONNECTION, openLeases } from '#platform/postgres/lease/leases.ts';
import { createPipeline } from '#platform/postgres/pipelined-transaction.ts';
import { runWithRestarts } from '#platform/process/run-as-leader.ts';
import type { Projection } from '#projections/define-projection.ts';
import { createProjectorTables } from './apply/checkpoints.ts';
import { listenForRequests } from './control/operator-requests.ts';
import { PROBATION_FIRST_MS } from './control/probation.ts';
import { runCycles } from './scheduler.ts';
import { createWakeSignal } from '#platform/concurrency/wake-signal.ts';

const POOL_CLIENTS = 4;
const LIVE_CLIENTS = 8;
const BUILDING_CLIENTS = 8;
/** Commits do not wait for the disk: a power cut loses rows and checkpoint together, so a replay restores both. */
const ASYNC_COMMIT = { options: `-c synchronous_commit=off ${FENCED_CONNECTION}` };
/** Maximum wait of a statement of a live batch for a lock. */
const LOCK_TIMEOUT_MS = 1_000;
/** A statement that waits for a lock soon fails, and its projection stays behind, so that the others continue. */
const LIVE = `${ASYNC_COMMIT.options} -c lock_timeout=${LOCK_TIMEOUT_MS}`;
/** Shorter than `STATEMENT_TIMEOUT_MS`, because all projections of a reader wait for a small batch. */
const HURRIED_STATEMENT_TIMEOUT_MS = 3_000;
/** Live batches are small: planning costs more than execution, and one generic plan fits all. */
const GENERIC_PLANS = {
  options: `${LIVE} -c plan_cache_mode=force_generic_plan`,
  statement_timeout: HURRIED_STATEMENT_TIMEOUT_MS,
};

/** Statement timeout. A statement of a dead process blocks the next owner this long, less than two lease lengths. */
const STATEMENT_TIMEOUT_MS = 15_000;
/** Timeout of the read that begins each poll, to detect a silent connection while the lease still renews. */
const REQUESTS_STATEMENT_TIMEOUT_MS = 5_000;

export type ProjectorSettings = {
  readonly databaseUrl: string;
  readonly eventStoreUrl: string;
  readonly projections: readonly Projection[];
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly probationFirstMs?: number;
};

/**
 * Runs projections until the signal. Restarts from the stored positions after a lost server or lease. Rows and
 * positions commit together and prove the lease, so no event is applied twice or skipped.
 */
export const runProjections = async (settings: ProjectorSettings): Promise<void> => {
  const { databaseUrl, log, signal, probationFirstMs = PROBATION_FIRST_MS } = settings;
  const wakeSignal = createWakeSignal();
  await using resources = new AsyncDisposableStack();
  const database = openPool(databaseUrl, POOL_CLIENTS, {
    ...ASYNC_COMMIT,
    statement_timeout: STATEMENT_TIMEOUT_MS,
  });
  resources.defer(() => database.end());
  const requests = openPool(databaseUrl, 1, { statement_timeout: REQUESTS_STATEMENT_TIMEOUT_MS });
  resources.defer(() => requests.end());
  const live = {
    hurried: openPool(databaseUrl, LIVE_CLIENTS, {
      options: LIVE,
      statement_timeout: HURRIED_STATEMENT_TIMEOUT_MS,
    }),
    patient: openPool(databaseUrl, LIVE_CLIENTS, { options: LIVE, statement_timeout: STATEMENT_TIMEOUT_MS }),
  };
  resources.defer(async () => {
    await Promise.all([live.hurried.end(), live.patient.end()]);
  });
  const pipeline = resources.use(createPipeline(databaseUrl, GENERIC_PLANS));
  const eventStore = resources.use(openEventStore(settings.eventStoreUrl));
  resources.use(listenForRequests(databaseUrl, log, wakeSignal.notify));
  await runWithRestarts({
    message: 'projecting interrupted; restarting from the stored positions',
    log,
    signal,
    run: async () => {
      await createProjectorTables(database);
      await using leases = await openLeases(databaseUrl);
      const building = openClosablePool(databaseUrl, BUILDING_CLIENTS, {
        ...ASYNC_COMMIT,
        statement_timeout: LONG_STATEMENT_TIMEOUT_MS,
      });
      await runCycles(
        { ...settings, database, requests, live, building, pipeline, eventStore, leases, probationFirstMs },
        wakeSignal,
      );
    },
  });
};
