import type { AlertChannel } from '#contracts/values/alerts.ts';
import type { Transaction } from '#platform/postgres/pool.ts';
import { type DeliveryTarget, endpointOf } from './target.ts';

/** Removes unfinished deliveries from the lease queue, or from those held back, and records the cancellation. */
const CANCEL_NAMED = `
  with queued as (
    delete from delivery.due where delivery_id = any($3::uuid[]) returning delivery_id, attempts
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
/** Cancels the unfinished ones of these deliveries. `reason` is a sentence. Returns how many were cancelled. */
export const cancelDeliveries = async (
  client: Transaction,
  deliveryIds: readonly string[],
  reason: string,
  at: Date,
): Promise<number> => {
  const { rowCount } = await client.query(CANCEL_NAMED, [reason, at.toISOString(), deliveryIds]);
  return rowCount ?? 0;
};

/** Maximum deliveries of a rule that one statement changes. The server ends a statement that takes long. */
const DELIVERIES_PER_PAGE = 5_000;

/**
 * Pages of a rule's deliveries that a call changes. `all_but_last`: one page, and only while there is more than one. A caller
 * that commits each page on its own leaves the last one to the transaction that ends its work. `one`: one page.
 */
export type Pages = 'all_but_last' | 'one';

type Page = { readonly ids: readonly string[]; readonly isMore: boolean };

/** Selects one page of delivery ids, and one more. `$1` is the rule. */
const readPage = async (
  client: Transaction,
  pages: Pages,
  text: string,
  values: readonly unknown[],
): Promise<Page> => {
  const { rows } = await client.query<{ delivery_id: string }>(`${text} limit ${DELIVERIES_PER_PAGE + 1}`, [
    ...values,
  ]);
  const isMore = rows.length > DELIVERIES_PER_PAGE;
  if (!isMore && pages === 'all_but_last') return { ids: [], isMore };
  return { ids: rows.slice(0, DELIVERIES_PER_PAGE).map(({ delivery_id }) => delivery_id), isMore };
};

/** Unfinished deliveries of a rule. */
const WAITING = `
  select w.delivery_id from (
    select delivery_id, endpoint from delivery.due where alert_id = $1
    union all
    select delivery_id, endpoint from delivery.held where alert_id = $1
  ) w join delivery.delivery d using (delivery_id)`;

/**
 * Cancels a page of the unfinished deliveries of a rule on these channels, except notices (messages of the service about the
 * rule). Returns whether there are more.
 */
export const cancelPageOfAlert = async (
  client: Transaction,
  pages: Pages,
  of: { readonly alertId: string; readonly channels: readonly AlertChannel[] },
  reason: string,
  at: Date,
): Promise<boolean> => {
  const text = `${WAITING} where d.channel = any($2::text[]) and d.kind <> 'notice'`;
  const { ids, isMore } = await readPage(client, pages, text, [of.alertId, of.channels]);
  if (ids.length > 0) await cancelDeliveries(client, ids, reason, at);
  return isMore;
};

/** An alert rule, and its workspace. */
type RuleOfWorkspace = { readonly workspaceId: string; readonly alertId: string };

/** Changes the target of a page of a rule's unfinished deliveries on the target's channel. Returns whether there are more. */
export const retargetPageOfAlert = async (
  client: Transaction,
  pages: Pages,
  { workspaceId, alertId }: RuleOfWorkspace,
  target: DeliveryTarget,
): Promise<boolean> => {
  const endpoint = endpointOf(target, workspaceId);
  const stored = JSON.stringify(target);
  const text = `${WAITING} where d.channel = $2 and (w.endpoint <> $3 or d.endpoint <> $3 or d.target <> $4)`;
  const { ids, isMore } = await readPage(client, pages, text, [alertId, target.channel, endpoint, stored]);
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
 * Deletes a page of the deliveries of a deleted rule, and with the last of them what else is stored about it. Rows of `due` go
 * first: a concurrent writer of an attempt has either committed by then, or finds no row to update and records nothing.
 * Returns whether there are more.
 */
export const deletePageOfAlert = async (
  client: Transaction,
  pages: Pages,
  alertId: string,
): Promise<boolean> => {
  const text = 'select delivery_id from delivery.delivery where alert_id = $1';
  const { ids, isMore } = await readPage(client, pages, text, [alertId]);
  if (ids.length > 0) {
    for (const table of ['due', 'held', 'journal', 'unrecorded', 'delivery']) {
      await client.query(`delete from delivery.${table} where delivery_id = any($1::uuid[])`, [ids]);
    }
  }
  if (isMore || pages === 'all_but_last') return isMore;
  for (const table of ['failing', 'stream']) {
    await client.query(`delete from delivery.${table} where alert_id = $1`, [alertId]);
  }
  return isMore;
};

/** Runs a page of work until there are no more. */
const toTheEnd = async (page: () => Promise<boolean>): Promise<void> => {
  for (let isMore = true; isMore; ) isMore = await page();
};

/** Cancels the unfinished deliveries of a rule on these channels, except notices, in one transaction. */
export const cancelDeliveriesOfAlert = (
  client: Transaction,
  alertId: string,
  channels: readonly AlertChannel[],
  reason: string,
  at: Date,
): Promise<void> => toTheEnd(() => cancelPageOfAlert(client, 'one', { alertId, channels }, reason, at));

/** Changes the target of a rule's unfinished deliveries on the target's channel, in one transaction. */
export const retargetDeliveriesOfAlert = (
  client: Transaction,
  rule: RuleOfWorkspace,
  target: DeliveryTarget,
): Promise<void> => toTheEnd(() => retargetPageOfAlert(client, 'one', rule, target));

/** Deletes all deliveries of a deleted rule, in one transaction. */
export const deleteDeliveriesOfAlert = (client: Transaction, alertId: string): Promise<void> =>
  toTheEnd(() => deletePageOfAlert(client, 'one', alertId));
