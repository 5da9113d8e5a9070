import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { HOUR_MS } from '#contracts/values/time.ts';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { type Clock, pause } from '#platform/clock.ts';
import { createWakeSignal, type WakeSignal } from '#platform/concurrency/wake-signal.ts';
import type { Egress } from '#platform/egress/http-client.ts';
import { createPoliteClient } from '#platform/http-client/polite-client.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { proveLease } from '#platform/postgres/lease/prove-lease.ts';
import { type Database, withProof } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';
import { runAsLeader } from '#platform/process/run-as-leader.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { ARCHIVE_SOURCE } from './ads-archive/archive-batch-store.ts';
import { type ArchiveRunner, runArchive } from './ads-archive/run-batches.ts';
import { consumeWishes } from './schedule/consume-wishes.ts';
import { createHostStore } from './schedule/host-store.ts';
import { runTargets } from './schedule/run-targets.ts';
import { deleteOldAttempts } from './schedule/target-store.ts';

/** Milliseconds between two deletions of old attempts. */
const RETENTION_INTERVAL_MS = HOUR_MS;

/** Settings of the library API, and its vault. */
export type ArchiveAccessOptions = Pick<
  ArchiveRunner,
  'vault' | 'origin' | 'version' | 'appSecret' | 'countries' | 'callsPerHour' | 'wait'
> & { readonly databaseUrl: string };

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
  /** Access to the library API; `null` when that source is not read. */
  readonly archive: ArchiveAccessOptions | null;
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

/** Returns whether a target of the source is read alone, and not in a batch with others. */
const isReadAlone = (source: string): boolean => source !== ARCHIVE_SOURCE;

/** Reads the library API while this process holds the lease. A standby takes over when it ends. */
const runArchiveAsLeader = async (
  { archive, database, db, nats, egress, via, clock, log, signal }: CollectorOptions,
  userAgent: string,
  wishes: WakeSignal,
): Promise<void> => {
  if (archive === null) return;
  const { databaseUrl, ...access } = archive;
  const route = { egress, via };
  await runAsLeader({
    databaseUrl,
    kind: 'collector-ads-archive',
    log,
    signal,
    run: (leading, lease) => {
      const fenced = withProof(database, (client) => proveLease(client, lease));
      return runArchive(
        { ...access, database: fenced, db, nats, route, userAgent, clock, log, signal: leading },
        wishes,
      );
    },
  });
};

/** Records wishes and reads due targets until the signal is aborted. The tables must exist. */
export const runCollector = async (options: CollectorOptions): Promise<void> => {
  const { database, nats, egress, via, contact, clock, log, signal, sources } = options;
  const userAgent = `ad-intelligence/${packageJson.version} (+${contact})`;
  const client = createPoliteClient({
    egress,
    via,
    hosts: createHostStore(database),
    clock,
    userAgent,
    // The played world is ours, and its time is not that of its visitors.
    ...(via === null ? {} : { paceMs: 0 }),
  });
  const wishes = createWakeSignal();
  const owner = randomUUID();
  await Promise.all([
    consumeWishes({ ...options, recorded: () => wishes.notify() }),
    runTargets(
      { database, nats, client, clock, log, signal, sources: sources.filter(isReadAlone), owner },
      wishes,
    ),
    runArchiveAsLeader(options, userAgent, wishes),
    deleteAtIntervals(options),
  ]);
};
