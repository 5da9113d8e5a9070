import { randomUUID } from 'node:crypto';
import { publishObservations } from '#application/observations/publish-observations.ts';
import type { CreativeFile } from '#contracts/observations/creative.ts';
import { DAY_MS, MINUTE_MS } from '#contracts/values/time.ts';
import type { Nats } from '#platform/nats/connection.ts';
import type { ObjectStore } from '#platform/object-store/object-store.ts';
import { type Database, type Transaction, inTransaction } from '#platform/postgres/pool.ts';
import type { ArchiveMode } from '#application/media-archive/archive-tables.ts';
import { type Clock, pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import { RowLeaseLost, extendRowLease } from '#platform/postgres/lease/row-lease.ts';
import { mediaFiles } from '#platform/telemetry/metrics.ts';
import {
  type Claimed,
  type StoredFile,
  claimFile,
  endExpired,
  extendLease,
  recordSettings,
} from './wanted-store.ts';
import { type Archiver, type FileOutcome, archiveFile } from './archive-file.ts';

/** Days after the last scan for which a missed or rejected file is remembered. */
const REMEMBERED_DAYS = 30;

export type Removal = {
  readonly database: Database;
  readonly nats: Pick<Nats, 'jetstream'>;
  readonly objectStore: Pick<ObjectStore, 'remove'>;
  readonly now: Date;
  /** Days after the last scan for which a file is kept; `null` keeps it for ever. */
  readonly keepDays: number | null;
  readonly limit: number;
};

type OldFile = {
  readonly file_key: string;
  readonly object_keys: readonly string[];
  readonly file: StoredFile | null;
  readonly ad_id: string | null;
};

const selectOld = async (
  client: Transaction,
  { now, keepDays, limit }: Removal,
): Promise<readonly OldFile[]> => {
  const before = (days: number): Date => new Date(now.getTime() - days * DAY_MS);
  const { rows } = await client.query<OldFile>(
    `select w.file_key, w.object_keys, w.file,
       (select min(a.ad_id) from media.wanted_ad a where a.file_key = w.file_key) as ad_id
     from media.wanted w
     where (w.state in ('missed', 'refused') and w.seen_at < $1)
       or ($2::timestamptz is not null and w.state = 'stored' and not w.unsent and w.seen_at < $2)
     order by w.seen_at limit $3 for update of w skip locked`,
    [before(REMEMBERED_DAYS), keepDays === null ? null : before(keepDays), limit],
  );
  return rows;
};

/** Deletes unused objects from the table and returns their keys. */
const deleteUnused = async (client: Transaction, keys: readonly string[]): Promise<ReadonlySet<string>> => {
  const { rows } = await client.query<{ object_key: string; bytes: string }>(
    `delete from media.object o where object_key = any($1)
       and not exists (select from media.wanted w where w.state = 'stored' and w.object_keys @> array[o.object_key])
     returning object_key, bytes::text`,
    [keys],
  );
  const bytes = rows.reduce((sum, row) => sum + Number(row.bytes), 0);
  await client.query('update media.usage set bytes = bytes - $1', [bytes]);
  return new Set(rows.map(({ object_key }) => object_key));
};

/** Removes objects before the commit, so that a repetition completes interrupted work. Returns the number of files. */
export const removeUnused = (removal: Removal): Promise<number> =>
  inTransaction(removal.database, async (client) => {
    const { nats, objectStore, now } = removal;
    // Locks the total first, like all transactions that change it, so that no file takes these objects.
    await client.query('select from media.usage for update');
    const files = await selectOld(client, removal);
    if (files.length === 0) return 0;
    await client.query('delete from media.wanted where file_key = any($1)', [
      files.map(({ file_key }) => file_key),
    ]);
    const unused = await deleteUnused(client, [...new Set(files.flatMap(({ object_keys }) => object_keys))]);
    const removed = files.flatMap(({ file, ad_id }): CreativeFile[] =>
      file === null || ad_id === null || !unused.has(file.object_key ?? '')
        ? []
        : [{ ...file, observed_at: now.toISOString(), ad_ids: [ad_id], removed: true }],
    );
    await publishObservations(nats, removed);
    for (const key of unused) await objectStore.remove(key);
    return files.length;
  });

const ADS_MAX = 2_000;

/** Repeatable: ingest ignores a second publication. Returns `false` when nothing is left. */
export const sendNextFile = (database: Database, nats: Pick<Nats, 'jetstream'>): Promise<boolean> =>
  inTransaction(database, async (client) => {
    const { rows } = await client.query<{ file_key: string; file: StoredFile; fetched_at: Date }>(
      `select file_key, file, fetched_at from media.wanted where unsent and state = 'stored'
       order by file_key limit 1 for update skip locked`,
    );
    const [stored] = rows;
    if (stored === undefined) return false;
    const { file_key: fileKey, file, fetched_at: fetchedAt } = stored;
    const { rows: ads } = await client.query<{ ad_id: string; seen_at: Date }>(
      'select ad_id, seen_at from media.wanted_ad where file_key = $1 and not sent order by ad_id limit $2',
      [fileKey, ADS_MAX],
    );
    if (ads.length > 0) {
      const latestMs = Math.max(fetchedAt.getTime(), ...ads.map(({ seen_at }) => seen_at.getTime()));
      const observation: CreativeFile = {
        ...file,
        observed_at: new Date(latestMs).toISOString(),
        ad_ids: ads.map(({ ad_id }) => ad_id),
      };
      await publishObservations(nats, [observation]);
      await client.query('update media.wanted_ad set sent = true where file_key = $1 and ad_id = any($2)', [
        fileKey,
        observation.ad_ids,
      ]);
    }
    if (ads.length < ADS_MAX) {
      await client.query('update media.wanted set unsent = false where file_key = $1', [fileKey]);
    }
    return true;
  });

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
