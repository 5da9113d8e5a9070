import type { SecretVault } from '#application/vault/secret-vault.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import type { Clock } from '#platform/clock.ts';
import type { KeyedMutex } from '#platform/concurrency/queues.ts';
import type { Route } from '#platform/http-client/request-once.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { PacedAccount } from './paced-account.ts';

/** The leader makes the calls of all accounts. */
export const ARCHIVE_LEADER = 'collector-ads-archive';

export type ArchiveRunner = {
  readonly database: Database;
  readonly db: ReadDatabase;
  readonly nats: Pick<Nats, 'jetstream'>;
  readonly vault: SecretVault;
  readonly route: Route;
  readonly origin: string;
  readonly version: string;
  readonly appSecret: string | null;
  readonly countries: readonly string[];
  readonly reached: boolean;
  readonly callsPerHour: number;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
};

export type Leading = {
  readonly owner: string;
  readonly name: string;
  /** Serialises the choice of brands, so that two accounts do not choose the same. */
  readonly choosing: KeyedMutex;
  account: { readonly fingerprint: string; readonly paced: PacedAccount } | null;
  warnedMs: number;
  opened: number;
  /** Time of the last check whether looks are needed (epoch ms), with its result. */
  reckonedMs: number;
  needsLooks: boolean;
};
