import { PAYLOAD_ITEMS_MAX, type AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { derivedId } from '#domain/ids.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import { cancelDeliveries } from './cancel.ts';
import { enqueue, type QueuedDelivery, WAITING_MAX } from './enqueue.ts';
import { readTarget } from './target.ts';

/** Held-back alerts are sent below this. Far below the maximum, so that a slow receiver gets few messages. */
const WAITING_LOW = WAITING_MAX / 2;
const ALERTS_PER_MESSAGE = 10_000;

type HeldQueue = { readonly alert_id: string; readonly endpoint: string };

/** Steps from rule to rule by the index: a rule with very many costs as much as one with few. */
const NEXT_QUEUE = `
  with recursive queue (alert_id, endpoint) as (
    (select h.alert_id, h.endpoint from delivery.held h order by h.alert_id, h.endpoint limit 1)
    union all
    select n.alert_id, n.endpoint from queue q cross join lateral (
      select h.alert_id, h.endpoint from delivery.held h
      where (h.alert_id, h.endpoint) > (q.alert_id, q.endpoint) order by h.alert_id, h.endpoint limit 1
    ) n
  )
  select alert_id, endpoint from queue q
  where not exists (
    select from delivery.due u
    where u.alert_id = q.alert_id and u.endpoint = q.endpoint offset ${WAITING_LOW - 1})
  limit 1`;

const TAKE = `
  select h.delivery_id, h.items_total, h.as_of from delivery.held h
  where h.alert_id = $1 and h.endpoint = $2 order by h.seq limit ${ALERTS_PER_MESSAGE} for update`;

const MAKE_DUE = `
  with freed as (
    delete from delivery.held where delivery_id = $1 returning delivery_id, alert_id, endpoint
  )
  insert into delivery.due (delivery_id, workspace_id, alert_id, endpoint, attempts, attempts_before, next_attempt_at)
  select delivery_id, d.workspace_id, f.alert_id, f.endpoint, 0, 0, $2
  from freed f join delivery.delivery d using (delivery_id)`;

type Held = { readonly delivery_id: string; readonly items_total: number; readonly as_of: string };
type Content = { readonly workspace_id: string; readonly target: string; readonly payload: string };

const readContents = async (client: Transaction, ids: readonly string[]): Promise<readonly Content[]> => {
  const { rows } = await client.query<Content>(
    `select d.workspace_id, d.target, d.payload from unnest($1::uuid[]) with ordinality i (delivery_id, n)
     join delivery.delivery d using (delivery_id) order by i.n`,
    [ids],
  );
  return rows;
};

const mergedPayload = (
  id: string,
  held: readonly Held[],
  first: readonly AlertPayload[],
  last: AlertPayload,
  baseUrl: string,
): AlertPayload => ({
  ...last,
  id,
  items: first.flatMap(({ items }) => items).slice(0, PAYLOAD_ITEMS_MAX),
  items_total: held.reduce((sum, { items_total }) => sum + items_total, 0),
  as_of: held.reduce((newest, { as_of }) => (as_of > newest ? as_of : newest), ''),
  merged: {
    alerts: held.length,
    url: `${baseUrl}/v1/workspaces/${last.workspace_id}/alert-deliveries?alert_id=${last.alert.id}`,
  },
});

const mergeQueue = async (
  client: Transaction,
  { alert_id, endpoint }: HeldQueue,
  { baseUrl, now }: MergeOptions,
): Promise<readonly QueuedDelivery[]> => {
  const { rows: held } = await client.query<Held>(TAKE, [alert_id, endpoint]);
  const ids = held.map(({ delivery_id }) => delivery_id);
  const [firstId, lastId] = [ids[0], ids.at(-1)];
  if (firstId === undefined || lastId === undefined) return [];
  if (ids.length === 1) {
    await client.query(MAKE_DUE, [firstId, now.toISOString()]);
    return [{ deliveryId: firstId, endpoint }];
  }
  // Each alert has an item at least, so these have as many as a payload may list.
  const contents = await readContents(client, [...ids.slice(0, PAYLOAD_ITEMS_MAX), lastId]);
  const payloads = contents.map(({ payload }) => JSON.parse(payload) as AlertPayload);
  const [content, last] = [contents.at(-1), payloads.at(-1)];
  if (!content || !last) return [];
  const deliveryId = derivedId('merged alerts', firstId);
  const payload = mergedPayload(deliveryId, held, payloads.slice(0, -1), last, baseUrl);
  const reason = `Sent with others, as delivery ${deliveryId}: too many of the rule were waiting.`;
  await cancelDeliveries(client, ids, reason, now);
  return enqueue(client, [
    {
      deliveryId,
      workspaceId: content.workspace_id,
      alertId: alert_id,
      kind: 'alert',
      target: readTarget(content.target),
      payload,
      queuedAt: now.toISOString(),
    },
  ]);
};

export type MergeOptions = { readonly baseUrl: string; readonly now: Date };

/**
 * Merges the held-back alerts of a rule into one delivery, and cancels them; a single one is queued as it is. Open in
 * the log until the commit, so that a replay sends them. Returns those that are due.
 */
export const mergeHeldBack = async (
  database: Database,
  options: MergeOptions,
): Promise<{ readonly queued: readonly QueuedDelivery[]; readonly isMore: boolean }> => {
  const { rows } = await database.query<HeldQueue>({ name: 'next alerts held back', text: NEXT_QUEUE });
  const [queue] = rows;
  if (!queue) return { queued: [], isMore: false };
  const queued = await inTransaction(database, (client) => mergeQueue(client, queue, options));
  return { queued, isMore: true };
};
