import type { SecretVault } from '#application/vault/secret-vault.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import type { Clock } from '#platform/clock.ts';
import type { KeyedMutex } from '#platform/concurrency/keyed-mutex.ts';
import type { Route } from '#platform/http-client/request-once.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { PacedAccount } from './paced-account.ts';

/** Kind of the lease of the process that makes the calls of all accounts. */
export const ARCHIVE_LEADER = 'collector-ads-archive';

/** Settings and connections of reading the library API. */
export type ArchiveRunner = {
  readonly database: Database;
  /** Read models, to find the pages of a brand. */
  readonly db: ReadDatabase;
  readonly nats: Pick<Nats, 'jetstream'>;
  readonly vault: SecretVault;
  readonly route: Route;
  readonly origin: string;
  readonly version: string;
  readonly appSecret: string | null;
  readonly countries: readonly string[];
  /** Whether the countries that each ad reached are requested. */
  readonly reached: boolean;
  readonly callsPerHour: number;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Waits this many milliseconds. Ends at once when the signal is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** Memory of this leader about one account. */
export type Leading = {
  readonly owner: string;
  readonly name: string;
  /** Orders the choices of all accounts, so that two do not choose the same brands. */
  readonly choosing: KeyedMutex;
  account: { readonly fingerprint: string; readonly paced: PacedAccount } | null;
  warnedMs: number;
  opened: number;
  /** When the need of looks was reckoned last, in milliseconds since 1970, and the result. */
  reckonedMs: number;
  needsLooks: boolean;
};
