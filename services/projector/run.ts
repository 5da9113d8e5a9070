import { openEventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import { openClosablePool } from '#platform/postgres/closable-pool.ts';
import { FENCED_CONNECTION, openLeases } from '#platform/postgres/lease/leases.ts';
import { createPipeline } from '#platform/postgres/pipelined-transaction.ts';
import { LONG_STATEMENT_TIMEOUT_MS, openPool } from '#platform/postgres/pool.ts';
import { runWithRestarts } from '#platform/process/run-with-restarts.ts';
import type { Projection } from '#projections/define-projection.ts';
import { createProjectorTables } from './apply/checkpoints.ts';
import { listenForRequests } from './control/operator-requests.ts';
import { runCycles } from './scheduler.ts';
import { createWakeSignal } from '#platform/concurrency/wake-signal.ts';

/** Maximum connections for control tables. */
const POOL_CLIENTS = 4;
/** Maximum connections for transactions of single projections, of each pool. */
const LIVE_CLIENTS = 8;
/** Maximum connections of rebuilds and verifications. */
const BUILDING_CLIENTS = 8;
/**
 * Commits do not wait for the disk. Rows and checkpoint are lost together or not at all, so after a power cut
 * the missing events are applied again.
 */
const ASYNC_COMMIT = { options: `-c synchronous_commit=off ${FENCED_CONNECTION}` };
/** Milliseconds for which a statement of a live batch waits for a lock. */
const LOCK_TIMEOUT_MS = 1_000;
/**
 * Options of connections that apply live batches. A statement that waits for a lock gives up soon, and its projection is left
 * behind: the others must not wait for it.
 */
const LIVE = `${ASYNC_COMMIT.options} -c lock_timeout=${LOCK_TIMEOUT_MS}`;
/** Milliseconds after which the server cancels a statement of a small batch, for the same reason. */
const HURRIED_STATEMENT_TIMEOUT_MS = 3_000;
/**
 * Options of the live connection. Live batches are a few rows from arrays: planning a statement costs more
 * than running it, and one generic plan fits all.
 */
const GENERIC_PLANS = {
  options: `${LIVE} -c plan_cache_mode=force_generic_plan`,
  statement_timeout: HURRIED_STATEMENT_TIMEOUT_MS,
};

/**
 * Milliseconds after which the server cancels any other statement. A process that was cut off in the middle of one keeps the
 * next owner waiting until then: less than two lengths of a lease, with the looks of that owner.
 */
const STATEMENT_TIMEOUT_MS = 15_000;
/**
 * Milliseconds after which the server cancels the look at requests that begins each poll. By it a process that was cut off
 * without a word notices, while its lease goes on over new connections: the projections stand still until then.
 */
const REQUESTS_STATEMENT_TIMEOUT_MS = 5_000;

export type ProjectorSettings = {
  readonly databaseUrl: string;
  readonly eventStoreUrl: string;
  readonly projections: readonly Projection[];
  readonly log: Log;
  readonly signal: AbortSignal;
};

/**
 * Runs the projections owned by this process until the signal. When a server is gone or a lease is lost, it restarts from
 * the stored positions. Rows and positions move in one transaction that proves the lease, so no event is
 * applied twice or left out.
 */
export const runProjections = async (settings: ProjectorSettings): Promise<void> => {
  const { databaseUrl, projections, log, signal } = settings;
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
      await using leases = await openLeases(databaseUrl, 'projector');
      const building = openClosablePool(databaseUrl, BUILDING_CLIENTS, {
        ...ASYNC_COMMIT,
        statement_timeout: LONG_STATEMENT_TIMEOUT_MS,
      });
      await runCycles(
        { database, requests, live, building, pipeline, eventStore, leases, projections, log, signal },
        wakeSignal,
      );
    },
  });
};
