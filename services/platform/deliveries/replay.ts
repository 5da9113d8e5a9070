import type { Database, Transaction } from '../postgres.ts';

const REPLAY = `
  with moved as (
    update delivery.delivery
    set status = 'queued', attempts_before = attempts, next_attempt_at = $2, taken_by = null, taken_until = null,
      finished_at = null
    where delivery_id = any($1::uuid[]) and status in ('delivered', 'failed', 'cancelled')
    returning delivery_id, workspace_id, alert_id
  )
  insert into delivery.journal (delivery_id, workspace_id, alert_id, type, at)
  select delivery_id, workspace_id, alert_id, 'DeliveryReplayed', $2 from moved
  returning delivery_id`;

/**
 * Another round of attempts, over the same bytes and under the same id, of those that are at an end. Answers which,
 * for `publishDue` once the transaction is committed.
 */
export const replayDeliveries = async (
  client: Transaction,
  deliveryIds: readonly string[],
  at: Date,
): Promise<readonly string[]> => {
  const { rows } = await client.query<{ delivery_id: string }>(REPLAY, [deliveryIds, at.toISOString()]);
  return rows.map(({ delivery_id }) => delivery_id);
};

/** Deliveries that failed since a time, in the order in which they did, after one of them. */
export const failedDeliveries = async (
  pool: Database,
  since: Date,
  after: { readonly finishedAt: string; readonly deliveryId: string } | null,
  limit: number,
): Promise<readonly { readonly deliveryId: string; readonly finishedAt: string }[]> => {
  const { rows } = await pool.query<{ delivery_id: string; finished_at: string }>(
    `select delivery_id, to_char(finished_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as finished_at
     from delivery.delivery
     where status = 'failed' and finished_at >= $1 and (finished_at, delivery_id) > ($2::timestamptz, $3::uuid)
     order by finished_at, delivery_id
     limit $4`,
    [
      since.toISOString(),
      after?.finishedAt ?? '-infinity',
      after?.deliveryId ?? '00000000-0000-0000-0000-000000000000',
      limit,
    ],
  );
  return rows.map((row) => ({ deliveryId: row.delivery_id, finishedAt: row.finished_at }));
};
