import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import type { Leases } from '#platform/postgres/lease/leases.ts';
import type { ClosablePool } from '#platform/postgres/closable-pool.ts';
import type { Pipeline } from '#platform/postgres/pipelined-transaction.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';

/** Pools for the transactions of single projections. A statement that waits for a lock gives up soon on both. */
export type LiveDatabases = {
  /** For small batches: a slow statement is cancelled soon, because all projections of the reader wait for it. */
  readonly hurried: Database;
  /** For large batches, and for projections that failed. */
  readonly patient: Database;
};

/** Shared dependencies of the projector, for one session: until it ends or fails. */
export type ProjectorDependencies = {
  readonly database: Database;
  /** For the look at the requests of operators. It fails soon when Postgres does not answer, and ends the session. */
  readonly requests: Database;
  readonly live: LiveDatabases;
  /** For statements that take as long as the tables are large. It is closed when the session ends. */
  readonly building: ClosablePool;
  readonly pipeline: Pipeline;
  readonly eventStore: EventStore;
  readonly leases: Leases;
  readonly projections: readonly Projection[];
  readonly log: Log;
  /** Aborted when the process ends or the session has failed. */
  readonly signal: AbortSignal;
};
