import type { AlertChannel } from '#contracts/values/alerts.ts';
import type { Transaction } from '#platform/postgres/pool.ts';
import { type DeliveryTarget, endpointOf } from './target.ts';

/** Also records the cancellation. With `$4`, only of deliveries that this worker has claimed. */
const CANCEL_NAMED = `
  with queued as (
    delete from delivery.due where delivery_id = any($3::uuid[]) and ($4::text is null or taken_by = $4)
    returning delivery_id, attempts
  ), held as (
    delete from delivery.held where delivery_id = any($3::uuid[]) returning delivery_id
  ), moved as (
    select delivery_id, attempts from queued
    union all
    select delivery_id, 0 from held where delivery_id not in (select delivery_id from queued)
  )
  insert into delivery.journal (delivery_id, type, at, attempt, reason)
  select delivery_id, 'DeliveryCancelled', $2, attempts, $1 from moved
  returning delivery_id`;
export const cancelDeliveries = async (
  client: Pick<Transaction, 'query'>,
  deliveryIds: readonly string[],
  reason: string,
  at: Date,
  workerId: string | null = null,
): Promise<number> => {
  const { rowCount } = await client.query(CANCEL_NAMED, [reason, at.toISOString(), deliveryIds, workerId]);
  return rowCount ?? 0;
};

const DELIVERIES_PER_PAGE = 5_000;

/** Handles one page of a rule's deliveries. Returns whether there are more. */
export type Step = (client: Transaction) => Promise<boolean>;

/** Runs the step for all pages, in one transaction. */
export const runToEnd = async (client: Transaction, step: Step): Promise<void> => {
  while (await step(client));
};

type Page = { readonly ids: readonly string[]; readonly isMore: boolean };

const readPage = async (client: Transaction, text: string, values: readonly unknown[]): Promise<Page> => {
  const { rows } = await client.query<{ delivery_id: string }>(`${text} limit ${DELIVERIES_PER_PAGE + 1}`, [
    ...values,
  ]);
  const isMore = rows.length > DELIVERIES_PER_PAGE;
  return { ids: rows.slice(0, DELIVERIES_PER_PAGE).map(({ delivery_id }) => delivery_id), isMore };
};

const WAITING = `
  select w.delivery_id from (
    select delivery_id, endpoint from delivery.due where alert_id = $1
    union all
    select delivery_id, endpoint from delivery.held where alert_id = $1
  ) w join delivery.delivery d using (delivery_id)`;

/** Notices, messages of the service about the rule, stay. */
export const cancelDeliveriesOfAlert =
  (alertId: string, channels: readonly AlertChannel[], reason: string, at: Date): Step =>
  async (client) => {
    const text = `${WAITING} where d.channel = any($2::text[]) and d.kind <> 'notice'`;
    const { ids, isMore } = await readPage(client, text, [alertId, channels]);
    if (ids.length > 0) await cancelDeliveries(client, ids, reason, at);
    return isMore;
  };

export const retargetDeliveriesOfAlert =
  (workspaceId: string, alertId: string, target: DeliveryTarget): Step =>
  async (client) => {
    const endpoint = endpointOf(target, workspaceId);
    const stored = JSON.stringify(target);
    const text = `${WAITING} where d.channel = $2 and (w.endpoint <> $3 or d.endpoint <> $3 or d.target <> $4)`;
    const { ids, isMore } = await readPage(client, text, [alertId, target.channel, endpoint, stored]);
    if (ids.length === 0) return isMore;
    await client.query(
      `with moved as (
         update delivery.due set endpoint = $2 where delivery_id = any($1::uuid[]) returning delivery_id
       ), held as (
         update delivery.held set endpoint = $2 where delivery_id = any($1::uuid[]) returning delivery_id
       )
       update delivery.delivery d set endpoint = $2, target = $3
       from (select delivery_id from moved union select delivery_id from held) m where d.delivery_id = m.delivery_id`,
      [ids, endpoint, stored],
    );
    return isMore;
  };

/**
 * The last page also deletes what else is stored about the rule. Rows of `due` go first: a concurrent attempt has
 * committed, or finds no row and records nothing.
 */
export const deleteDeliveriesOfAlert =
  (alertId: string): Step =>
  async (client) => {
    const text = 'select delivery_id from delivery.delivery where alert_id = $1';
    const { ids, isMore } = await readPage(client, text, [alertId]);
    if (ids.length > 0) {
      for (const table of ['due', 'held', 'journal', 'unrecorded', 'delivery']) {
        await client.query(`delete from delivery.${table} where delivery_id = any($1::uuid[])`, [ids]);
      }
    }
    if (isMore) return true;
    for (const table of ['failing', 'stream']) {
      await client.query(`delete from delivery.${table} where alert_id = $1`, [alertId]);
    }
    return false;
  };
