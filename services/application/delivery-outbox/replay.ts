import { isoTimeMicrosSql } from '#contracts/values/time.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';
import { type DeliveryTarget, endpointOf } from './target.ts';

const REPLAY = `
  with moved as (
    insert into delivery.due (delivery_id, workspace_id, alert_id, endpoint, attempts, attempts_before, next_attempt_at)
    select delivery_id, workspace_id, alert_id, endpoint, attempts, attempts, $2 from delivery.overview o
    where delivery_id = any($1::uuid[]) and next_attempt_at is null
      and not exists (select from delivery.held h where h.delivery_id = o.delivery_id)
    on conflict do nothing
    returning delivery_id, attempts
  )
  insert into delivery.journal (delivery_id, type, at, attempt)
  select delivery_id, 'DeliveryReplayed', $2, attempts from moved
  returning delivery_id`;

/** With the same bytes and ids. Returns the ids of finished deliveries sent again; a sweep finds them. */
export const replayDeliveries = async (
  client: Transaction,
  deliveryIds: readonly string[],
  at: Date,
): Promise<readonly string[]> => {
  const { rows } = await client.query<{ delivery_id: string }>(REPLAY, [deliveryIds, at.toISOString()]);
  return rows.map(({ delivery_id }) => delivery_id);
};

export const updateDeliveryTargets = async (
  client: Transaction,
  targets: ReadonlyMap<string, DeliveryTarget>,
): Promise<void> => {
  const { rows } = await client.query<{ delivery_id: string; workspace_id: string }>(
    'select delivery_id, workspace_id from delivery.delivery where delivery_id = any($1::uuid[])',
    [[...targets.keys()]],
  );
  const changed = rows.flatMap(({ delivery_id, workspace_id }) => {
    const target = targets.get(delivery_id);
    return target ? [{ delivery_id, target, endpoint: endpointOf(target, workspace_id) }] : [];
  });
  await client.query(
    `update delivery.delivery d set endpoint = g.endpoint, target = g.target
     from unnest($1::uuid[], $2::text[], $3::text[]) as g (delivery_id, endpoint, target)
     where d.delivery_id = g.delivery_id and d.target <> g.target`,
    [
      changed.map(({ delivery_id }) => delivery_id),
      changed.map(({ endpoint }) => endpoint),
      changed.map(({ target }) => JSON.stringify(target)),
    ],
  );
};

export const failedDeliveries = async (
  pool: Database,
  since: Date,
  after: { readonly finishedAt: string; readonly deliveryId: string } | null,
  limit: number,
): Promise<readonly { readonly deliveryId: string; readonly finishedAt: string }[]> => {
  const { rows } = await pool.query<{ delivery_id: string; finished_at: string }>(
    `select delivery_id, ${isoTimeMicrosSql('at')} as finished_at
     from delivery.journal f
     where outcome = 'failed' and at >= $1 and (at, delivery_id) > ($2::timestamptz, $3::uuid)
       and not exists (select from delivery.journal j where j.delivery_id = f.delivery_id and j.seq > f.seq)
     order by at, delivery_id
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
