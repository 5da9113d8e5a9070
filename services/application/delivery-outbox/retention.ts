import { type Database, inTransaction } from '#platform/postgres/pool.ts';

/** Their events stay in the log. */
export const FINISHED_RETENTION_DAYS = 30;
const ROWS_PER_TRIM = 5_000;

/** With their journal entries. Returns how many. */
export const deleteFinishedDeliveries = (pool: Database, now: Date): Promise<number> =>
  inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ delivery_id: string }>(
      `with ended_by as (select $1::timestamptz - $2 * interval '1 day' as at)
       delete from delivery.delivery where delivery_id in (
         select delivery_id from delivery.delivery d, ended_by
         where d.queued_at < ended_by.at
           and not exists (select from delivery.due u where u.delivery_id = d.delivery_id)
           and not exists (select from delivery.held h where h.delivery_id = d.delivery_id)
           and not exists (
             select from delivery.journal j where j.delivery_id = d.delivery_id and j.at >= ended_by.at)
         order by d.queued_at limit $3)
       returning delivery_id`,
      [now.toISOString(), FINISHED_RETENTION_DAYS, ROWS_PER_TRIM],
    );
    const ids = rows.map(({ delivery_id }) => delivery_id);
    for (const table of ['journal', 'unrecorded']) {
      await client.query(`delete from delivery.${table} where delivery_id = any($1::uuid[])`, [ids]);
    }
    return ids.length;
  });
