import type { AlertChannel } from '#contracts/values/alerts.ts';
import type { Transaction } from '#platform/postgres/pool.ts';
import { type DeliveryTarget, endpointOf } from './target.ts';

/**
 * Removes unfinished deliveries from the lease queue, or from those held back, and records the cancellation. `__WHICH__`
 * selects them.
 */
const CANCEL = `
  with queued as (
    delete from delivery.due u using delivery.delivery d
    where u.delivery_id = d.delivery_id and __WHICH__
    returning u.delivery_id, u.attempts
  ), held as (
    delete from delivery.held h using delivery.delivery d
    where h.delivery_id = d.delivery_id and __WHICH__
    returning h.delivery_id
  ), moved as (
    select delivery_id, attempts from queued
    union all
    select delivery_id, 0 from held where delivery_id not in (select delivery_id from queued)
  )
  insert into delivery.journal (delivery_id, type, at, attempt, reason)
  select delivery_id, 'DeliveryCancelled', $2, attempts, $1 from moved
  returning delivery_id`;
const CANCEL_NAMED = CANCEL.replaceAll('__WHICH__', 'd.delivery_id = any($3::uuid[])');
const CANCEL_OF_ALERT = CANCEL.replaceAll(
  '__WHICH__',
  "d.alert_id = $3 and d.channel = any($4::text[]) and d.kind <> 'notice'",
);

const cancelWith = async (client: Transaction, text: string, values: readonly unknown[]): Promise<number> => {
  const { rows } = await client.query<{ delivery_id: string }>(text, [...values]);
  return rows.length;
};

/** Cancels the unfinished ones of these deliveries. `reason` is a sentence. Returns how many were cancelled. */
export const cancelDeliveries = (
  client: Transaction,
  deliveryIds: readonly string[],
  reason: string,
  at: Date,
): Promise<number> => cancelWith(client, CANCEL_NAMED, [reason, at.toISOString(), deliveryIds]);

/**
 * Cancels the unfinished deliveries of a rule on these channels, except notices (messages of the service about the
 * rule). Returns how many were cancelled.
 */
export const cancelDeliveriesOfAlert = (
  client: Transaction,
  alertId: string,
  channels: readonly AlertChannel[],
  reason: string,
  at: Date,
): Promise<number> => cancelWith(client, CANCEL_OF_ALERT, [reason, at.toISOString(), alertId, channels]);

/** Changes the target of a rule's unfinished deliveries on the target's channel. */
export const retargetDeliveriesOfAlert = async (
  client: Transaction,
  alertId: string,
  target: DeliveryTarget,
): Promise<void> => {
  await client.query(
    `with moved as (
       update delivery.due u set endpoint = $3 from delivery.delivery d
       where u.delivery_id = d.delivery_id and d.alert_id = $1 and d.channel = $2
       returning u.delivery_id
     ), held as (
       update delivery.held h set endpoint = $3 from delivery.delivery d
       where h.delivery_id = d.delivery_id and d.alert_id = $1 and d.channel = $2
       returning h.delivery_id
     )
     update delivery.delivery d set endpoint = $3, target = $4
     from (select delivery_id from moved union select delivery_id from held) m where d.delivery_id = m.delivery_id`,
    [alertId, target.channel, endpointOf(target), JSON.stringify(target)],
  );
};

/**
 * Deletes all deliveries of a deleted rule. Rows of `due` go first: a concurrent writer of an attempt has either
 * committed by then, or finds no row to update and records nothing.
 */
export const deleteDeliveriesOfAlert = async (client: Transaction, alertId: string): Promise<void> => {
  for (const table of ['due', 'held', 'journal', 'unrecorded']) {
    await client.query(
      `delete from delivery.${table} using delivery.delivery d
       where d.alert_id = $1 and ${table}.delivery_id = d.delivery_id`,
      [alertId],
    );
  }
  for (const table of ['delivery', 'failing', 'stream']) {
    await client.query(`delete from delivery.${table} where alert_id = $1`, [alertId]);
  }
};
