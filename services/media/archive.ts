import { randomUUID } from 'node:crypto';
import type { ArchiveMode } from '#application/media-archive/archive-tables.ts';
import { MINUTE_MS } from '#contracts/values/time.ts';
import { type Clock, pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { extendRowLease, RowLeaseLost } from '#platform/postgres/lease/row-lease.ts';
import { mediaFiles } from '#platform/telemetry/metrics.ts';
import { type Archiver, archiveFile, type FileOutcome } from './fetch/archive-file.ts';
import { removeUnused } from './remove-unused.ts';
import { sendNextFile } from './send-files.ts';
import { type Claimed, claimFile, endExpired, extendLease, recordSettings } from './store/wanted-store.ts';

const FETCHED_AT_ONCE = 4;
const POLL_MS = 2_000;
const SWEEP_INTERVAL_MS = MINUTE_MS;
const SWEEP_FILES_MAX = 1_000;

export type ArchiveOptions = Archiver & {
  readonly nats: Pick<Nats, 'jetstream'>;
  readonly mode: ArchiveMode;
  readonly keepDays: number | null;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly leaseClock?: Clock;
  readonly pollMs?: number;
};

const leaseNowOf = ({ leaseClock }: ArchiveOptions): Date | null => leaseClock?.now() ?? null;

const archiveWithLease = async (options: ArchiveOptions, claimed: Claimed): Promise<void> => {
  const { database, log, signal } = options;
  const lost = new AbortController();
  const file = { file_key: claimed.fileKey, kind: claimed.kind };
  let outcome: FileOutcome | null = null;
  try {
    using _ = extendRowLease(() => extendLease(database, claimed, leaseNowOf(options)), lost);
    outcome = await archiveFile(options, claimed, AbortSignal.any([signal, lost.signal]));
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof RowLeaseLost || lost.signal.aborted) log.warn(file, 'lease lost');
    // The lease expires, and the file is retried.
    else log.warn({ err: error, ...file }, 'file not archived; retrying when the lease has expired');
  }
  if (outcome === null) return;
  mediaFiles.inc({ kind: claimed.kind, outcome });
  log.debug({ ...file, outcome }, 'file ended');
};

const loop = async (
  { log, signal, pollMs = POLL_MS }: ArchiveOptions,
  what: string,
  step: () => Promise<boolean>,
  idleMs = pollMs,
): Promise<void> => {
  while (!signal.aborted) {
    try {
      if (await step()) continue;
    } catch (error) {
      if (!signal.aborted) log.warn({ reason: (error as Error).message }, `${what} failed; retrying`);
    }
    await pause(idleMs, signal);
  }
};

const sweep = async (options: ArchiveOptions): Promise<boolean> => {
  const { database, nats, objectStore, clock, keepDays, log } = options;
  const times = { now: clock.now(), leaseNow: leaseNowOf(options) };
  const expired = await endExpired(database, times, SWEEP_FILES_MAX);
  if (expired > 0) log.warn({ files: expired }, 'addresses expired before their files were stored');
  const removed = await removeUnused({
    database,
    nats,
    objectStore,
    now: clock.now(),
    keepDays,
    limit: SWEEP_FILES_MAX,
  });
  if (removed > 0) log.info({ files: removed }, 'files removed');
  return expired === SWEEP_FILES_MAX || removed === SWEEP_FILES_MAX;
};

/** Stores and publishes wanted files until the abort. Any number of processes may run it. The tables must exist. */
export const runArchive = async (options: ArchiveOptions): Promise<void> => {
  const { database, nats, mode, quotaBytes, clock } = options;
  await recordSettings(database, mode, quotaBytes);
  const owner = randomUUID();
  let claims = 0;
  const archiveNext = async (): Promise<boolean> => {
    claims += 1;
    // Each claim has an owner of its own, because the same process may claim the file again after a lost lease.
    const times = { now: clock.now(), leaseNow: leaseNowOf(options) };
    const claimed = await claimFile(database, { owner: `${owner}.${claims}`, ...times, mode, quotaBytes });
    if (claimed === null) return false;
    await archiveWithLease(options, claimed);
    return true;
  };
  await Promise.all([
    ...Array.from({ length: FETCHED_AT_ONCE }, () => loop(options, 'claiming', archiveNext)),
    loop(options, 'publishing', () => sendNextFile(database, nats)),
    loop(options, 'the sweep', () => sweep(options), SWEEP_INTERVAL_MS),
  ]);
};
