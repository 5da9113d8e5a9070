import { randomUUID } from 'node:crypto';
import { HOUR_MS } from '#contracts/values/time.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { type Clock, pause } from '#platform/clock.ts';
import { createWakeSignal, type WakeSignal } from '#platform/concurrency/wake-signal.ts';
import type { Egress } from '#platform/egress/http-client.ts';
import type { BotKey } from '#platform/http-client/bot-key.ts';
import { createPoliteClient } from '#platform/http-client/polite-client.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { proveLease } from '#platform/postgres/lease/leases.ts';
import { type Database, withProof } from '#platform/postgres/pool.ts';
import { runAsLeader } from '#platform/process/run-as-leader.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { ARCHIVE_LEADER, type ArchiveRunner } from './ads-archive/archive-runner.ts';
import { runArchive } from './ads-archive/run-batches.ts';
import { LANDING_PAGES_SOURCE, createLandingPagesReader } from './read-landing-pages.ts';
import { consumeWishes } from './schedule/consume-wishes.ts';
import { createHostStore, deleteOldAttempts } from './schedule/target-store.ts';
import { runTargets } from './schedule/run-targets.ts';
import type { SourceReader } from './schedule/source-reader.ts';
import { createImprintStore } from './site/imprint-store.ts';
import { createSiteReader, SITE_SOURCE } from './site/read-site.ts';
import { createToolDetector, type ToolDetector } from './site/tools/tool-detector.ts';
import { storefrontReader } from './storefront/read-storefront.ts';

const RETENTION_INTERVAL_MS = HOUR_MS;

export type ArchiveAccessOptions = Pick<
  ArchiveRunner,
  'vault' | 'origin' | 'version' | 'appSecret' | 'countries' | 'reached' | 'callsPerHour' | 'wait'
> & { readonly databaseUrl: string };

export type CollectorOptions = {
  readonly database: Database;
  readonly db: ReadDatabase;
  readonly nats: Nats;
  readonly egress: Egress;
  readonly via: string | null;
  /** URL or e-mail address at which sites reach the operator. */
  readonly contact: string;
  /** Signs requests to sites; `null` leaves them unsigned. */
  readonly botKey: BotKey | null;
  readonly sources: readonly string[];
  /** Format of `wappalyzer`; `null` uses the package's rules. */
  /** `null` when the library API is not read. */
  readonly archive: ArchiveAccessOptions | null;
  readonly clock: Clock;
  /** Clock of tests; otherwise Postgres ends leases. */
  readonly leaseClock?: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
};

const deleteAtIntervals = async ({ database, clock, log, signal }: CollectorOptions): Promise<void> => {
  while (!signal.aborted) {
    await deleteOldAttempts(database, clock.now()).catch((error: unknown) =>
      log.warn({ reason: (error as Error).message }, 'old attempts left until the next interval'),
    );
    await pause(RETENTION_INTERVAL_MS, signal);
  }
};

export const readersOf = (
  { sources, database, db }: Pick<CollectorOptions, 'sources' | 'database' | 'db'>,
  detector: ToolDetector,
): Readonly<Record<string, SourceReader>> => {
  const readers: Readonly<Record<string, SourceReader>> = {
    storefront: storefrontReader,
    [SITE_SOURCE]: createSiteReader({ detector, imprints: createImprintStore(database) }),
    [LANDING_PAGES_SOURCE]: createLandingPagesReader({ database, db }),
  };
  return Object.fromEntries(Object.entries(readers).filter(([source]) => sources.includes(source)));
};

/** A standby takes over when the leader ends. */
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
    kind: ARCHIVE_LEADER,
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

/** The tables must exist. */
export const runCollector = async (options: CollectorOptions): Promise<void> => {
  const { database, nats, egress, via, contact, botKey, clock, leaseClock, log, signal } = options;
  const userAgent = `ad-intelligence/${packageJson.version} (+${contact})`;
  const client = createPoliteClient({
    egress,
    via,
    hosts: createHostStore(database),
    clock,
    userAgent,
    botKey,
    // The simulated world needs no pace.
    ...(via === null ? {} : { paceMs: 0 }),
  });
  const wishes = createWakeSignal();
  await using detector = createToolDetector({ log });
  const readers = readersOf(options, detector);
  const owner = randomUUID();
  await Promise.all([
    consumeWishes({ ...options, recorded: () => wishes.notify() }),
    runTargets({ database, nats, client, clock, leaseClock, log, signal, readers, owner }, wishes),
    runArchiveAsLeader(options, userAgent, wishes),
    deleteAtIntervals(options),
  ]);
};
