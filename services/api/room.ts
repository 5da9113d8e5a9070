import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import type { Callers } from '#platform/access/callers.ts';
import type { KeyUses } from '#platform/access/key-uses.ts';
import type { Clock } from '#platform/clock.ts';
import type { EventStore } from '#platform/event-store.ts';
import type { Log } from '#platform/log.ts';
import type { MemberVault } from '#platform/member-vault.ts';
import type { ObjectStore } from '#platform/object-store/object-store.ts';
import type { Database } from '#platform/postgres.ts';
import type { ReadPosition } from '#platform/read-position.ts';
import type { SecretVault } from '#platform/secret-vault.ts';
import type { SigningSecrets } from '#platform/signing-secrets.ts';
import type { AlertChannels } from './alert-channels.ts';
import type { Cursors } from './cursors.ts';
import type { DownloadLinks } from './download-links.ts';
import type { IdempotentAnswers } from './idempotent-answers.ts';
import type { RateLimits } from './rate-limits.ts';
import type { ScrapeHandOff } from './scrape-hand-off.ts';
import type { SharedReads } from './shared-reads.ts';

/** Everything that checks and handlers reach the world through. */
export type ApiRoom = {
  readonly db: ReadDatabase;
  readonly pool: Database;
  readonly eventStore: EventStore;
  readonly readPosition: ReadPosition;
  readonly callers: Callers;
  readonly keyUses: KeyUses;
  readonly rateLimits: RateLimits;
  readonly cursors: Cursors;
  readonly downloadLinks: DownloadLinks;
  readonly objectStore: ObjectStore;
  /** `null` without MEMBER_VAULT_KEY: names that are sealed stay so. */
  readonly memberVault: MemberVault | null;
  /** `null` without MEMBER_VAULT_KEY: then there are no webhooks. */
  readonly secretVault: SecretVault | null;
  readonly signingSecrets: SigningSecrets | null;
  readonly alertChannels: AlertChannels;
  readonly idempotentAnswers: IdempotentAnswers;
  readonly scrapeHandOff: ScrapeHandOff;
  readonly sharedReads: SharedReads;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly log: Log;
};
