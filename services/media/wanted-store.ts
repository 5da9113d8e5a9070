import { EXPIRING_HOURS, roomOf } from '#application/media-archive/archive-status.ts';
import type { ArchiveMode } from '#application/media-archive/archive-tables.ts';
import type { CreativeFile } from '#contracts/observations/creative.ts';
import type { MediaKind } from '#contracts/values/media/creatives.ts';
import { MINUTE_MS } from '#contracts/values/time.ts';
import { RowLeaseLost, leaseEndSql, leaseTimeSql } from '#platform/postgres/lease/row-lease.ts';
import { type Database, type Transaction, inTransaction } from '#platform/postgres/pool.ts';

/** Delays before further attempts. */
const RETRY_DELAYS_MS = [0.5, 2, 8, 30].map((minutes) => minutes * MINUTE_MS);

export type Claimed = {
  readonly fileKey: string;
  readonly kind: MediaKind;
  readonly url: string;
  readonly posterUrl: string | null;
  readonly attempts: number;
  readonly tryUntil: Date;
  readonly owner: string;
};

export type StoredFile = Omit<CreativeFile, 'ad_ids' | 'observed_at'>;

const kindsThatFit = async (
  database: Database,
  mode: ArchiveMode,
  quotaBytes: number,
): Promise<readonly MediaKind[]> => {
  const { rows } = await database.query<{ bytes: string }>('select bytes::text from media.usage');
  const room = roomOf(Number(rows[0]?.bytes ?? 0), quotaBytes);
  if (mode === 'off' || room === 'nothing') return [];
  return mode === 'all' && room === 'all' ? ['image', 'video'] : ['image'];
};

type ClaimedRow = {
  readonly file_key: string;
  readonly kind: MediaKind;
  readonly url: string;
  readonly poster_url: string | null;
  readonly attempts: number;
  readonly try_until: Date;
};

/** Most urgent first: expiring address, running ad, any. Separate statements, so that each reads one index row. */
const URGENCIES = [`expires_at < $2::timestamptz + interval '${EXPIRING_HOURS} hours'`, 'running', 'true'];

/** Claims the most urgent file. Returns `null` when there is none, or no quota for one. */
export const claimFile = async (
  database: Database,
  options: {
    readonly owner: string;
    readonly now: Date;
    readonly leaseNow: Date | null;
    readonly mode: ArchiveMode;
    readonly quotaBytes: number;
  },
): Promise<Claimed | null> => {
  const { owner, now, leaseNow, mode, quotaBytes } = options;
  const kinds = await kindsThatFit(database, mode, quotaBytes);
  if (kinds.length === 0) return null;
  for (const urgency of URGENCIES) {
    const { rows } = await database.query<ClaimedRow>(
      `update media.wanted w set lease_owner = $1, lease_until = ${leaseEndSql('$3')}
       from (
         select file_key from media.wanted
         where state = 'wanted' and ${urgency} and kind = any($4) and try_until > $2 and coalesce(retry_at, $2) <= $2
           and (lease_until is null or lease_until <= ${leaseTimeSql('$3')})
         order by expires_at, file_key limit 1 for update skip locked
       ) next where w.file_key = next.file_key
       returning w.file_key, w.kind, w.url, w.poster_url, w.attempts, w.try_until`,
      [owner, now, leaseNow, kinds],
    );
    const [row] = rows;
    if (row === undefined) continue;
    const { file_key: fileKey, kind, url, poster_url: posterUrl, attempts, try_until: tryUntil } = row;
    return { fileKey, kind, url, posterUrl, attempts, tryUntil, owner };
  }
  return null;
};

const changeOwned = async (
  client: Database | Transaction,
  { fileKey, owner }: Claimed,
  set: string,
  values: readonly unknown[],
): Promise<void> => {
  const { rowCount } = await client.query(
    `update media.wanted set ${set} where file_key = $1 and lease_owner = $2 and state = 'wanted'`,
    [fileKey, owner, ...values],
  );
  if (rowCount !== 1) throw new RowLeaseLost(`the file ${fileKey}`);
};

export const extendLease = (database: Database, claimed: Claimed, leaseNow: Date | null): Promise<void> =>
  changeOwned(database, claimed, `lease_until = ${leaseEndSql('$3')}`, [leaseNow]);

const RELEASE = 'lease_owner = null, lease_until = null';

/** Returns a file until `retryAt`; does not count as an attempt. Throws `RowLeaseLost`. */
export const putBack = (database: Database, claimed: Claimed, retryAt: Date, reason: string): Promise<void> =>
  changeOwned(database, claimed, `${RELEASE}, retry_at = $3, reason = $4`, [retryAt, reason]);

/** Schedules a retry, or counts the file as missed after the last attempt. Throws `RowLeaseLost`. */
export const failTry = async (
  database: Database,
  claimed: Claimed,
  now: Date,
  reason: string,
): Promise<void> => {
  const delayMs = RETRY_DELAYS_MS[claimed.attempts];
  const retryAt = delayMs === undefined ? null : new Date(now.getTime() + delayMs);
  if (retryAt === null || retryAt >= claimed.tryUntil) return endFile(database, claimed, 'missed', reason);
  await changeOwned(database, claimed, `${RELEASE}, attempts = attempts + 1, retry_at = $3, reason = $4`, [
    retryAt,
    reason,
  ]);
};

/** A missed file is retried at a newer address. Throws `RowLeaseLost`. */
export const endFile = (
  database: Database,
  claimed: Claimed,
  state: 'missed' | 'refused',
  reason: string,
): Promise<void> => changeOwned(database, claimed, `${RELEASE}, state = $3, reason = $4`, [state, reason]);

/** Throws `RowLeaseLost`, also when its objects were removed with another file; the file is then fetched again. */
export const finishFile = (
  database: Database,
  claimed: Claimed,
  stored: { readonly file: StoredFile; readonly objectKeys: readonly string[]; readonly fetchedAt: Date },
): Promise<void> =>
  inTransaction(database, async (client) => {
    // A removal locks this row until its objects are gone.
    await client.query('select from media.usage for share');
    const { file, objectKeys, fetchedAt } = stored;
    const { rowCount } = await client.query('select from media.object where object_key = any($1)', [
      objectKeys,
    ]);
    if (rowCount !== objectKeys.length) throw new RowLeaseLost(`the file ${claimed.fileKey}`);
    await changeOwned(
      client,
      claimed,
      `${RELEASE}, state = 'stored', reason = null, file = $3, object_keys = $4, fetched_at = $5, unsent = true`,
      [JSON.stringify(file), objectKeys, fetchedAt],
    );
  });

/** Counts files with an expired address as missed. `leaseNow` is `null` for the clock of Postgres. */
export const endExpired = async (
  database: Database,
  { now, leaseNow }: { readonly now: Date; readonly leaseNow: Date | null },
  limit: number,
): Promise<number> => {
  const { rowCount } = await database.query(
    `update media.wanted w set state = 'missed', reason = coalesce(w.reason, 'the address expired'), ${RELEASE}
     from (
       select file_key from media.wanted where state = 'wanted' and try_until <= $1 and (lease_until is null or lease_until <= ${leaseTimeSql('$3')})
       order by expires_at limit $2 for update skip locked
     ) e where w.file_key = e.file_key`,
    [now, limit, leaseNow],
  );
  return rowCount ?? 0;
};

export type Reservation = { readonly objectKey: string; readonly bytes: number };

/** Reserves objects before they are written, so that the total is never too low. Returns false beyond `maxBytes`. */
export const reserve = (
  database: Database,
  objects: readonly Reservation[],
  maxBytes: number,
): Promise<boolean> =>
  inTransaction(database, async (client) => {
    const ordered = [...new Map(objects.map((one) => [one.objectKey, one])).values()].toSorted((a, b) =>
      a.objectKey < b.objectKey ? -1 : 1,
    );
    // Locks the total first, like every transaction, to prevent deadlocks.
    const usage = await client.query<{ bytes: string }>('select bytes::text from media.usage for update');
    const { rows } = await client.query<{ bytes: string }>(
      `with entered as (
         insert into media.object (object_key, bytes) select * from unnest($1::text[], $2::bigint[]) as i
         on conflict do nothing returning bytes
       ) select coalesce(sum(bytes), 0)::text as bytes from entered`,
      [ordered.map(({ objectKey }) => objectKey), ordered.map(({ bytes }) => bytes)],
    );
    const added = Number(rows[0]?.bytes ?? 0);
    if (added > 0 && Number(usage.rows[0]?.bytes ?? 0) + added > maxBytes) throw new NoRoom();
    await client.query('update media.usage set bytes = bytes + $1', [added]);
    return true;
  }).catch((error: unknown) => {
    if (error instanceof NoRoom) return false;
    throw error;
  });

class NoRoom extends Error {}

export const recordSettings = async (
  database: Database,
  mode: ArchiveMode,
  quotaBytes: number,
): Promise<void> => {
  await database.query('update media.usage set mode = $1, quota_bytes = $2', [mode, quotaBytes]);
};
