import { hostname } from 'node:os';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import type { Ownership } from '#platform/postgres/leader-lock.ts';
import type { Pipeline } from '#platform/postgres/pipelined-transaction.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';

/** What everything in a projector process works with, as long as its locks hold. */
export type ProjectorDependencies = {
  readonly database: Database;
  readonly pipeline: Pipeline;
  readonly eventStore: EventStore;
  readonly ownership: Ownership;
  readonly projections: readonly Projection[];
  readonly log: Log;
  /** Aborted when the process ends, or its locks are lost. */
  readonly signal: AbortSignal;
};

/** How this process is called in what operators see. */
export const PROCESS_NAME = `${hostname()}:${process.pid}`;
