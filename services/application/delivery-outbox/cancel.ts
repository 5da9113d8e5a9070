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

/**
 * `all_but_last`: one page, while there are more, so that a caller that commits pages alone leaves the last to its
 * final transaction. `one`: one page.
 */
export type Pages = 'all_but_last' | 'one';

type Page = { readonly ids: readonly string[]; readonly isMore: boolean };

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

const WAITING = `
  select w.delivery_id from (
    select delivery_id, endpoint from delivery.due where alert_id = $1
    union all
    select delivery_id, endpoint from delivery.held where alert_id = $1
  ) w join delivery.delivery d using (delivery_id)`;

/** Returns whether there are more. Notices, messages of the service about the rule, stay. */
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

type RuleOfWorkspace = { readonly workspaceId: string; readonly alertId: string };

/** Returns whether there are more. */
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
 * The last page also deletes what else is stored about the rule. Rows of `due` go first: a concurrent attempt has
 * committed, or finds no row and records nothing. Returns whether there are more.
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

const toTheEnd = async (page: () => Promise<boolean>): Promise<void> => {
  for (let isMore = true; isMore; ) isMore = await page();
};

export const cancelDeliveriesOfAlert = (
  client: Transaction,
  alertId: string,
  channels: readonly AlertChannel[],
  reason: string,
  at: Date,
): Promise<void> => toTheEnd(() => cancelPageOfAlert(client, 'one', { alertId, channels }, reason, at));

export const retargetDeliveriesOfAlert = (
  client: Transaction,
  rule: RuleOfWorkspace,
  target: DeliveryTarget,
): Promise<void> => toTheEnd(() => retargetPageOfAlert(client, 'one', rule, target));

export const deleteDeliveriesOfAlert = (client: Transaction, alertId: string): Promise<void> =>
  toTheEnd(() => deletePageOfAlert(client, 'one', alertId));
