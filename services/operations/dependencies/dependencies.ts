import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import type { Callers } from '#application/access/key-lease-cache.ts';
import type { KeyFormat } from '#application/access/key-format.ts';
import type { KeyUsage } from '#application/access/key-usage.ts';
import type { PastReads } from '#application/as-of/past-reads.ts';
import type { Clock } from '#platform/clock.ts';
import type { WorkspaceCommands } from '#application/commands/workspace-commands.ts';
import type { RawLog } from '#platform/event-store/copy/raw-log.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import type { MemberVault } from '#application/vault/member-vault.ts';
import type { ObjectStore } from '#platform/object-store/object-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { ReadRoute, ReadRoutes } from '#application/reads/read-routes.ts';
import type { ProjectionWait } from '#application/commands/projection-wait.ts';
import type { SecretVault } from '#application/vault/secret-vault.ts';
import type { SigningSecrets } from '#application/vault/signing-secrets.ts';
import type { AlertChannels } from './alert-channels.ts';
import type { Cursors } from './cursors.ts';
import type { DownloadLinks, MediaLinks, ProofLinks } from './links.ts';
import type { RequestCounts } from '#application/access/request-counts.ts';
import type { ScrapeRequests } from './scrape-requests.ts';
import type { HeavyReads } from './heavy-reads.ts';
import type { ReadCoalescing } from './read-coalescing.ts';
import type { ReadModelLag } from './read-model-lag.ts';
import type { Reply } from '../endpoint/reply.ts';

/** Several requests may share a reply; its route is that of the request that read it. */
export type HandledRead = { readonly reply: Reply; readonly route: ReadRoute };

export type OperationDependencies = {
  /** Reads from the primary. The handler of a read gets the database of its route instead. */
  readonly db: ReadDatabase;
  readonly readRoutes: ReadRoutes;
  /** Reads of past moments. */
  readonly pastReads: PastReads;
  readonly pool: Database;
  readonly eventStore: EventStore;
  /** Events with the bytes in which they were recorded. */
  readonly rawLog: RawLog;
  readonly workspaceCommands: WorkspaceCommands;
  readonly projectionWait: ProjectionWait;
  readonly callers: Callers;
  /** This installation creates and accepts keys of this format only. */
  readonly keyFormat: KeyFormat;
  readonly keyUsage: KeyUsage;
  readonly requestCounts: RequestCounts;
  readonly cursors: Cursors;
  readonly downloadLinks: DownloadLinks;
  readonly mediaLinks: MediaLinks;
  readonly proofLinks: ProofLinks;
  readonly objectStore: ObjectStore;
  readonly memberVault: MemberVault | null;
  /** `null` without MEMBER_VAULT_KEY: no webhooks are sent. */
  readonly secretVault: SecretVault | null;
  readonly signingSecrets: SigningSecrets | null;
  readonly alertChannels: AlertChannels;
  readonly scrapeRequests: ScrapeRequests;
  readonly coalesceReads: ReadCoalescing<HandledRead>;
  readonly heavyReads: HeavyReads;
  /** Places of reads of past moments, which searches do not wait for. */
  readonly pastPlaces: HeavyReads;
  readonly readModelLag: ReadModelLag;
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly log: Log;
};
