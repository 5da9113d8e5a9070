import type { AlertChannel } from '#contracts/alerts.ts';
import type { Transaction } from '../postgres.ts';
import { type DeliveryTarget, endpointOf } from './target.ts';

/** Nothing more is sent of those that were not delivered or given up yet. */
const CANCEL = `
  with moved as (
    update delivery.delivery
    set status = 'cancelled', next_attempt_at = null, taken_by = null, taken_until = null, finished_at = $2
    where status in ('queued', 'retrying') and __WHICH__
    returning delivery_id, workspace_id, alert_id
  )
  insert into delivery.journal (delivery_id, workspace_id, alert_id, type, at, reason)
  select delivery_id, workspace_id, alert_id, 'DeliveryCancelled', $2, $1 from moved
  returning delivery_id`;
const CANCEL_NAMED = CANCEL.replace('__WHICH__', 'delivery_id = any($3::uuid[])');
const CANCEL_OF_ALERT = CANCEL.replace(
  '__WHICH__',
  "next_attempt_at is not null and alert_id = $3 and channel = any($4::text[]) and kind <> 'notice'",
);

const cancelWith = async (client: Transaction, text: string, values: readonly unknown[]): Promise<number> => {
  const { rows } = await client.query<{ delivery_id: string }>(text, [...values]);
  return rows.length;
};

/** Cancels these, as far as they are not at an end. `reason` is a sentence. Answers how many. */
export const cancelDeliveries = (
  client: Transaction,
  deliveryIds: readonly string[],
  reason: string,
  at: Date,
): Promise<number> => cancelWith(client, CANCEL_NAMED, [reason, at.toISOString(), deliveryIds]);

/** Cancels what a rule has still to send on these channels, but what the service itself has to say about it. */
export const cancelOfAlert = (
  client: Transaction,
  alertId: string,
  channels: readonly AlertChannel[],
  reason: string,
  at: Date,
): Promise<number> => cancelWith(client, CANCEL_OF_ALERT, [reason, at.toISOString(), alertId, channels]);

/** What a rule has still to send goes to its new address. */
export const retargetOfAlert = async (
  client: Transaction,
  alertId: string,
  target: DeliveryTarget,
): Promise<void> => {
  await client.query(
    `with moved as (
       update delivery.delivery set endpoint = $3
       where next_attempt_at is not null and alert_id = $1 and channel = $2
       returning delivery_id
     )
     update delivery.content c set target = $4 from moved where c.delivery_id = moved.delivery_id`,
    [alertId, target.channel, endpointOf(target), JSON.stringify(target)],
  );
};

/** Forgets everything that a deleted rule sent or was to send. */
export const forgetAlert = async (client: Transaction, alertId: string): Promise<void> => {
  await client.query(
    `delete from delivery.journal j using delivery.delivery d
     where d.alert_id = $1 and j.delivery_id = d.delivery_id`,
    [alertId],
  );
  for (const table of ['delivery', 'failing', 'stream']) {
    await client.query(`delete from delivery.${table} where alert_id = $1`, [alertId]);
  }
};
