import {
  ALERT_DELIVERY,
  type AlertDeliveryEvent,
  type DeliveryQueued,
} from '#contracts/events/workspace/alert-delivery.ts';
import { idOf, type RecordedEvent } from '#contracts/events/event.ts';
import type { AlertRuleState } from '#domain/workspace/alert/rule-decider.ts';
import { enqueue, type NewDelivery } from '#application/delivery-outbox/enqueue.ts';
import { createDeliveryTables } from '#application/delivery-outbox/create-tables.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { JOB_BATCH, type Progress } from './operations.ts';
import { readRule, currentTarget } from './current-rule.ts';

const EVENTS_PER_READ = 2_000;
const BUFFERED_ITEMS = 10_000;

/** Deliveries without a final event in the log, read from their streams. */
const openInLog = async (
  eventStore: EventStore,
  read: (events: number) => void,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
  const open = new Map<string, Set<string>>();
  const follow = ({ type, data, stream }: RecordedEvent<AlertDeliveryEvent>): void => {
    const ids = open.get(stream) ?? new Set();
    open.set(stream, ids);
    const isOver =
      type === 'DeliveryCancelled' || (type === 'DeliveryAttempted' && data.outcome !== 'retrying');
    if (isOver) ids.delete(data.delivery_id);
    else if (type !== 'DeliveryQueued' || data.kind !== 'test') ids.add(data.delivery_id);
    if (ids.size === 0) open.delete(stream);
  };
  await using follower = eventStore.follow({
    after: null,
    prefixes: [`${ALERT_DELIVERY}-`],
    bufferItems: BUFFERED_ITEMS,
  });
  for (let events = 0; ; ) {
    for (const item of await follower.take(EVENTS_PER_READ)) {
      if (item.kind === 'caught_up') return open;
      if (item.kind !== 'event') continue;
      follow(item.event as RecordedEvent<AlertDeliveryEvent>);
      events += 1;
      if (events % EVENTS_PER_READ === 0) read(events);
    }
  }
};

const notInTables = async (pool: Database, ids: ReadonlySet<string>): Promise<ReadonlySet<string>> => {
  const { rows } = await pool.query<{ delivery_id: string }>(
    'select delivery_id from delivery.delivery where delivery_id = any($1::uuid[])',
    [[...ids]],
  );
  const existing = new Set(rows.map(({ delivery_id }) => delivery_id));
  return new Set([...ids].filter((id) => !existing.has(id)));
};

/** Returns the delivery as it was queued, with its rule's current target; `null` without a target. */
const toNewDelivery = ({ data }: DeliveryQueued, rule: AlertRuleState, at: Date): NewDelivery | null => {
  const target = currentTarget(rule, data);
  return (
    target && {
      deliveryId: data.delivery_id,
      workspaceId: data.workspace_id,
      alertId: data.alert_id,
      kind: data.kind,
      target,
      payload: data.payload,
      queuedAt: at.toISOString(),
    }
  );
};

/** Queues unfinished deliveries of the log that the tables lack, as after a restore. Returns how many; repeatable. */
export const requeueMissing = async (
  { pool, eventStore }: { readonly pool: Database; readonly eventStore: EventStore },
  read: (events: number) => void,
  progress: Progress,
): Promise<number> => {
  await createDeliveryTables(pool);
  const open = await openInLog(eventStore, read);
  let queued = 0;
  let checked = 0;
  const total = [...open.values()].reduce((sum, ids) => sum + ids.size, 0);
  for (const [stream, ids] of open) {
    const missing = await notInTables(pool, ids);
    checked += ids.size;
    if (missing.size === 0) continue;
    const [workspaceId = '', alertId = ''] = idOf(stream).split('+');
    const rule = await readRule(eventStore, workspaceId, alertId);
    const deliveries = new Map<string, NewDelivery>();
    for await (const event of eventStore.read<AlertDeliveryEvent>(stream)) {
      if (event.type !== 'DeliveryQueued' || !missing.has(event.data.delivery_id)) continue;
      const delivery = toNewDelivery(event, rule, new Date());
      if (delivery) deliveries.set(delivery.deliveryId, delivery);
    }
    const all = [...deliveries.values()];
    for (let from = 0; from < all.length; from += JOB_BATCH) {
      const batch = all.slice(from, from + JOB_BATCH);
      queued += (await inTransaction(pool, (client) => enqueue(client, batch))).length;
    }
    progress(checked, total);
  }
  return queued;
};
