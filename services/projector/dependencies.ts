import { hostname } from 'node:os';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import type { LeaderLocks } from '#platform/postgres/leader-lock.ts';
import type { Pipeline } from '#platform/postgres/pipelined-transaction.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';

/** Shared dependencies of the projector, valid while its leader locks are held. */
export type ProjectorDependencies = {
  readonly database: Database;
  /** For statements that take as long as the tables are large. */
  readonly building: Database;
  readonly pipeline: Pipeline;
  readonly eventStore: EventStore;
  readonly ownership: LeaderLocks;
  readonly projections: readonly Projection[];
  readonly log: Log;
  /** Aborted when the process ends or its locks are lost. */
  readonly signal: AbortSignal;
};

/** Name of this process as operators see it: host and process id. */
export const PROCESS_NAME = `${hostname()}:${process.pid}`;
