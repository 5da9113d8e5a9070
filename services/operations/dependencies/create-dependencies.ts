import { categoryOf } from '#contracts/events/event.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { createKeyLeaseCache } from '#application/access/key-lease-cache.ts';
import { keyFormatIn } from '#application/access/key-format.ts';
import { createKeyUsage } from '#application/access/key-usage.ts';
import {
  openSnapshotTable,
  type SnapshotTable,
  withSnapshots,
} from '#application/commands/snapshots/with-snapshots.ts';
import { ACCESS_CATEGORIES, createWorkspaceCommands } from '#application/commands/workspace-commands.ts';
import type { MemberVault } from '#application/vault/member-vault.ts';
import type { SecretVault } from '#application/vault/secret-vault.ts';
import { openSigningSecrets } from '#application/vault/signing-secrets.ts';
import { createReadRoutes } from '#application/reads/read-routes.ts';
import type { Nats } from '#platform/nats/connection.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { createCursors } from './cursors.ts';
import type { OperationDependencies } from './dependencies.ts';
import { createDownloadLinks, createLinkSigner, createMediaLinks, createProofLinks } from './links.ts';
import { createRequestCounts } from '#application/access/request-counts.ts';
import { createHeavyReads, createPastPlaces } from './heavy-reads.ts';
import { createReadCoalescing } from './read-coalescing.ts';
import { createReadModelLag } from './read-model-lag.ts';
import { createScrapeRequests } from './scrape-requests.ts';

export type OperationResources = Pick<
  OperationDependencies,
  | 'db'
  | 'pastReads'
  | 'pool'
  | 'eventStore'
  | 'rawLog'
  | 'projectionWait'
  | 'objectStore'
  | 'alertChannels'
  | 'baseUrl'
  | 'clock'
  | 'log'
> & {
  /** May still be connecting: requests do not wait for it. */
  readonly nats: Promise<Nats>;
  readonly cursorSecret: string;
  readonly downloadSecret: string;
  readonly secondSecrets?: { readonly cursor?: string | undefined; readonly download?: string | undefined };
  /** Connections to the primary for API keys only, so that no read delays them. `db` when absent. */
  readonly accessDb?: ReadDatabase;
  /** Connections for keys and members, so that no crowd of commands holds up a revocation. `pool` when absent. */
  readonly controlPool?: Database;
  readonly standby?: ReadDatabase | undefined;
  /** Group of processes that count together (`countingGroup`); this process alone when absent. */
  readonly countingGroup?: string;
  readonly memberVault?: MemberVault | null;
  readonly secretVault?: SecretVault | null;
  /** Default: false. */
  readonly testMode?: boolean;
};

/** Commands about keys and members read snapshots on `control`; all are stored on `pool`. */
const snapshotsOf = (pool: Database, control: Database): SnapshotTable => {
  const [ofCommands, ofAccess] = [openSnapshotTable(pool), openSnapshotTable(control)];
  const tableOf = (stream: string): SnapshotTable =>
    ACCESS_CATEGORIES.has(categoryOf(stream)) ? ofAccess : ofCommands;
  return {
    find: (stream, version) => tableOf(stream).find(stream, version),
    remove: (snapshot) => tableOf(snapshot.stream).remove(snapshot),
    store: (snapshot) => ofCommands.store(snapshot),
  };
};

/** The caller disposes `requestCounts`, `keyUsage` and `readRoutes`. */
export const createOperationDependencies = ({
  nats,
  cursorSecret,
  downloadSecret,
  secondSecrets = {},
  memberVault = null,
  secretVault = null,
  accessDb,
  controlPool,
  standby,
  countingGroup,
  testMode = false,
  ...resources
}: OperationResources): OperationDependencies => {
  const requestCounts = createRequestCounts(resources.clock);
  if (countingGroup !== undefined) {
    nats
      .then(({ connection }) => requestCounts.share(connection, countingGroup))
      .catch((error: unknown) =>
        resources.log.warn({ err: error }, 'NATS unavailable; request counts not shared'),
      );
  }
  const { pool, log } = resources;
  const control = controlPool ?? pool;
  const eventStore = withSnapshots(resources.eventStore, snapshotsOf(pool, control), log);
  const linkSigner = createLinkSigner(downloadSecret, secondSecrets.download);
  return {
    ...resources,
    eventStore,
    workspaceCommands: createWorkspaceCommands({ ...resources, pool: control, eventStore }),
    memberVault,
    secretVault,
    signingSecrets: secretVault && openSigningSecrets(eventStore, secretVault),
    requestCounts,
    keyFormat: keyFormatIn(testMode),
    callers: createKeyLeaseCache(accessDb ?? resources.db),
    keyUsage: createKeyUsage(resources.pool, resources.log),
    cursors: createCursors(cursorSecret, secondSecrets.cursor),
    downloadLinks: createDownloadLinks(linkSigner, resources.baseUrl),
    mediaLinks: createMediaLinks(linkSigner, resources.baseUrl),
    proofLinks: createProofLinks(linkSigner, resources.baseUrl),
    scrapeRequests: createScrapeRequests(nats, resources.log),
    coalesceReads: createReadCoalescing(),
    heavyReads: createHeavyReads(),
    pastPlaces: createPastPlaces(),
    readModelLag: createReadModelLag(),
    readRoutes: createReadRoutes({
      primary: resources.db,
      standby,
      projectionWait: resources.projectionWait,
    }),
  };
};
