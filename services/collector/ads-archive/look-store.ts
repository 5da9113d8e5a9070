import { IDLE_AFTER_MS } from '#application/collecting/target-states.ts';
import { DAY_MS, WEEK_MS } from '#contracts/values/time.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { DETAIL_MAX_LENGTH } from '../schedule/target-store.ts';
import { ARCHIVE_SOURCE, type ArchiveBatch, removeBatch } from './archive-batch-store.ts';

const LOOK_INTERVAL_MS = DAY_MS;
/** Pause of looks after a reply that was not newest first. */
const LOOKS_OFF_MS = WEEK_MS;

/** Daily brands with a complete scan, but no scan or look for a day; longest ago first. */
export const dueLooks = async (database: Database, now: Date, limit: number): Promise<readonly string[]> => {
  const { rows } = await database.query<{ domain: string }>(
    `select domain from collecting.target
     where source = $1 and cadence = 'daily' and wished_at > $2 and paused is null and complete_at is not null
       and coalesce(retry_at, $3) <= $3 and coalesce(lease_until, $3) <= $3
       and greatest(scanned_at, looked_at) <= $4
     order by greatest(scanned_at, looked_at), domain limit $5`,
    [
      ARCHIVE_SOURCE,
      new Date(now.getTime() - IDLE_AFTER_MS),
      now,
      new Date(now.getTime() - LOOK_INTERVAL_MS),
      limit,
    ],
  );
  return rows.map(({ domain }) => domain);
};

export const readNewestAds = async (
  database: Database,
  pageIds: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
  const { rows } = await database.query<{ social_page_id: string; newest: readonly string[] }>(
    'select social_page_id, newest from collecting.archive_page where social_page_id = any($1)',
    [pageIds],
  );
  return new Map(rows.map(({ social_page_id, newest }) => [social_page_id, new Set(newest)]));
};

export const areLooksOff = async (database: Database, now: Date): Promise<boolean> => {
  const { rows } = await database.query('select from collecting.account where looks_off_until > $1 limit 1', [
    now,
  ]);
  return rows.length > 0;
};

/** For all accounts, since they read the same library. */
export const turnLooksOff = (database: Database, now: Date): Promise<void> =>
  inTransaction(database, async (client) => {
    await client.query('update collecting.account set looks_off_until = $1', [
      new Date(now.getTime() + LOOKS_OFF_MS),
    ]);
  });

/** Keeps the time of the next scan. Throws `RowLeaseLost`. */
export const finishLook = (
  database: Database,
  batch: ArchiveBatch,
  detail: string,
  now: Date,
): Promise<void> =>
  inTransaction(database, async (client) => {
    await removeBatch(client, batch);
    await client.query(
      `with looked as (
         update collecting.target set lease_owner = null, lease_until = null, looked_at = $1
         where source = $2 and domain = any($3)
       ) insert into collecting.attempt (at, source, domain, outcome, detail)
       select $1, $2, domain, 'look', $4 from unnest($3::text[]) as domain`,
      [now, ARCHIVE_SOURCE, batch.brands.map(({ domain }) => domain), detail.slice(0, DETAIL_MAX_LENGTH)],
    );
  });
