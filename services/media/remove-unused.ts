import { publishObservations } from '#application/observations/publish-observations.ts';
import type { CreativeFile } from '#contracts/observations/creative.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import type { Nats } from '#platform/nats/connection.ts';
import type { ObjectStore } from '#platform/object-store/object-store.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import type { StoredFile } from './store/wanted-store.ts';

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
