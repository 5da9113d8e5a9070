import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { HOUR_MS } from '#contracts/values/time.ts';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { type Clock, pause } from '#platform/clock.ts';
import { createWakeSignal } from '#platform/concurrency/wake-signal.ts';
import type { Egress } from '#platform/egress/http-client.ts';
import { createPoliteClient } from '#platform/http-client/polite-client.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { consumeWishes } from './schedule/consume-wishes.ts';
import { createHostStore } from './schedule/host-store.ts';
import { runTargets } from './schedule/run-targets.ts';
import { deleteOldAttempts } from './schedule/target-store.ts';

/** Milliseconds between two deletions of old attempts. */
const RETENTION_INTERVAL_MS = HOUR_MS;

export type CollectorOptions = {
  readonly database: Database;
  /** Read models, to find the domain of a brand. */
  readonly db: ReadDatabase;
  readonly nats: Nats;
  readonly egress: Egress;
  /** Origin of the played world that receives all requests; `null` for the internet. */
  readonly via: string | null;
  /** URL or e-mail address at which sites reach the operator. */
  readonly contact: string;
  readonly sources: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
};

/** Creates the tables that are missing. */
export const createCollectorTables = (database: Database): Promise<void> =>
  installSchema(database, {
    lock: ADVISORY_LOCKS.collectingSchema,
    sql: readFileSync(new URL('schema.sql', import.meta.url), 'utf8'),
    fingerprintOn: 'collecting',
  });

const deleteAtIntervals = async ({ database, clock, log, signal }: CollectorOptions): Promise<void> => {
  while (!signal.aborted) {
    await deleteOldAttempts(database, clock.now()).catch((error: unknown) =>
      log.warn({ reason: (error as Error).message }, 'old attempts left until the next interval'),
    );
    await pause(RETENTION_INTERVAL_MS, signal);
  }
};

/** Records wishes and reads due targets until the signal is aborted. The tables must exist. */
export const runCollector = async (options: CollectorOptions): Promise<void> => {
  const { database, nats, egress, via, contact, clock, log, signal, sources } = options;
  const client = createPoliteClient({
    egress,
    via,
    hosts: createHostStore(database),
    clock,
    userAgent: `ad-intelligence/${packageJson.version} (+${contact})`,
    // The played world is ours, and its time is not that of its visitors.
    ...(via === null ? {} : { paceMs: 0 }),
  });
  const wishes = createWakeSignal();
  const owner = randomUUID();
  await Promise.all([
    consumeWishes({ ...options, recorded: () => wishes.notify() }),
    runTargets({ database, nats, client, clock, log, signal, sources, owner }, wishes),
    deleteAtIntervals(options),
  ]);
};
