import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import type { Leases } from '#platform/postgres/lease/leases.ts';
import type { ClosablePool, Database } from '#platform/postgres/pool.ts';
import type { Pipeline } from '#platform/postgres/pipelined-transaction.ts';
import type { Projection } from '#projections/define-projection.ts';

/** Pools for transactions of single projections. A wait for a lock soon fails on both. */
export type LiveDatabases = {
  /** For small batches: slow statements are cancelled soon, because all projections of the reader wait for them. */
  readonly hurried: Database;
  /** For large batches and failed projections. */
  readonly patient: Database;
};

/** Dependencies of one session, which lasts until it ends or fails. */
export type ProjectorDependencies = {
  readonly database: Database;
  /** For polls of operator requests. Its timeout is short: it ends the session when Postgres does not respond. */
  readonly requests: Database;
  readonly live: LiveDatabases;
  /** For statements whose duration grows with the tables. Closed when the session ends. */
  readonly building: ClosablePool;
  readonly pipeline: Pipeline;
  readonly eventStore: EventStore;
  readonly leases: Leases;
  readonly projections: readonly Projection[];
  readonly log: Log;
  /** Length of the first probation of a projection that failed in a group. */
  readonly probationFirstMs: number;
  /** Aborted when the process ends or the session fails. */
  readonly signal: AbortSignal;
};
