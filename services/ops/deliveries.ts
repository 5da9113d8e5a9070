import { z } from 'zod';
import { DeliveryStatus } from '#contracts/values/alerts.ts';
import type { AlertRuleState } from '#domain/workspace/alert/rule-decider.ts';
import { dueTime } from '#application/alerts/limits.ts';
import { readAlertRule } from '#application/delivery-outbox/target.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { isoTimeSql } from '#contracts/values/time.ts';
import { Refusal } from '#contracts/errors.ts';
import { cancelDeliveries } from '#application/delivery-outbox/cancel.ts';
import {
  currentTarget,
  failedDeliveries,
  findCurrentTargets,
  replayToCurrentTargets,
} from '#application/delivery-outbox/replay.ts';
import { createDeliveryTables } from '#application/delivery-outbox/create-tables.ts';
import {
  ALERT_DELIVERY,
  type AlertDeliveryEvent,
  type DeliveryQueued,
} from '#contracts/events/workspace/alert-delivery.ts';
import { type RecordedEvent, idOf } from '#contracts/events/event.ts';
import { type NewDelivery, enqueue } from '#application/delivery-outbox/enqueue.ts';
import { Moment } from './validate-query.ts';

/** Operator commands on deliveries write to Postgres only; the delivery process claims due deliveries. */

export const JOB_BATCH = 500;
export const LIST_MAX = 500;
const LIST_DEFAULT = 50;
const IDS_MAX = 1_000;
const CANCELLED_BY_OPERATOR = 'An operator cancelled it.';

export type DeliveryDependencies = { readonly pool: Database; readonly eventStore: EventStore };

/** Called after each batch. `total` is `null` when it is unknown. */
export type Progress = (done: number, total: number | null) => void;

const Uuid = z.uuid('must be a delivery id');
export const DeliveryIds = z.array(Uuid).min(1).max(IDS_MAX);

export const DeliveryQuery = z.strictObject({
  workspace: z.string().min(1).max(100).optional(),
  alert: z.uuid('must be an alert rule id').optional(),
  status: DeliveryStatus.optional(),
  since: Moment.optional(),
  limit: z.coerce.number().int().min(1).max(LIST_MAX).default(LIST_DEFAULT),
  after: Uuid.optional(),
});
export type DeliveryQuery = z.infer<typeof DeliveryQuery>;

const COLUMNS = `d.delivery_id, d.workspace_id, d.alert_id, d.channel, d.kind, d.status, d.attempts,
  ${isoTimeSql('d.queued_at')} as queued_at, ${isoTimeSql('d.next_attempt_at')} as next_attempt_at,
  ${isoTimeSql('d.finished_at')} as finished_at`;

export type DeliveryRow = {
  readonly delivery_id: string;
  readonly workspace_id: string;
  readonly alert_id: string;
  readonly channel: string;
  readonly kind: string;
  readonly status: string;
  readonly attempts: number;
  readonly queued_at: string;
  readonly next_attempt_at: string | null;
  readonly finished_at: string | null;
};

export const listDeliveries = async (
  pool: Database,
  { workspace, alert, status, since, limit, after }: DeliveryQuery,
): Promise<readonly DeliveryRow[]> => {
  await createDeliveryTables(pool);
  // An unknown cursor would return an empty result page, which the caller would take for the end of the list.
  if (after !== undefined) await requireExisting(pool, [after]);
  const { rows } = await pool.query<DeliveryRow>(
    `select ${COLUMNS} from delivery.overview d
     where ($1::text is null or workspace_id = $1) and ($2::uuid is null or alert_id = $2)
       and ($3::text is null or status = $3) and ($4::timestamptz is null or queued_at >= $4)
       and ($5::uuid is null or (queued_at, delivery_id) <
         (select a.queued_at, a.delivery_id from delivery.delivery a where a.delivery_id = $5))
     order by d.queued_at desc, d.delivery_id desc limit $6`,
    [workspace ?? null, alert ?? null, status ?? null, since?.toISOString() ?? null, after ?? null, limit],
  );
  return rows;
};

export type DeliveryEntry = {
  readonly type: string;
  readonly at: string;
  readonly attempt: number | null;
  readonly outcome: string | null;
  readonly failure: string | null;
  readonly status_code: number | null;
  readonly reason: string | null;
  readonly duration_ms: number | null;
  /** Parts of `duration_ms`; `null` for a step that did not happen. */
  readonly dns_ms: number | null;
  readonly connect_ms: number | null;
  readonly tls_ms: number | null;
  /** From the sent request to the first byte of the response. */
  readonly wait_ms: number | null;
  readonly answer: string | null;
};

export type ShownDelivery = DeliveryRow & {
  readonly endpoint: string;
  readonly payload: unknown;
  readonly history: readonly DeliveryEntry[];
};

export const showDelivery = async (pool: Database, deliveryId: string): Promise<ShownDelivery> => {
  await createDeliveryTables(pool);
  const { rows } = await pool.query<Omit<ShownDelivery, 'payload' | 'history'> & { payload: Buffer }>(
    `select ${COLUMNS}, d.endpoint, p.payload from delivery.overview d join delivery.delivery p using (delivery_id)
     where delivery_id = $1`,
    [deliveryId],
  );
  const [row] = rows;
  if (!row) {
    throw new Refusal(
      'not_found',
      'Delivery not found. Test deliveries and deliveries that finished weeks ago are in the log only. Run `deliveries replay --missing` to queue a delivery that should be here.',
    );
  }
  const history = await pool.query<Omit<DeliveryEntry, 'answer'> & { answer: Buffer | null }>(
    `select type, ${isoTimeSql('at')} as at, attempt, outcome, failure, status_code, reason, duration_ms, dns_ms, connect_ms,
       tls_ms, wait_ms, answer
     from delivery.journal where delivery_id = $1 order by seq`,
    [deliveryId],
  );
  return {
    ...row,
    payload: JSON.parse(row.payload.toString('utf8')),
    history: history.rows.map(({ answer, ...entry }) => ({
      ...entry,
      answer: answer?.toString('utf8') ?? null,
    })),
  };
};

export type Replayed = {
  readonly replayed: number;
  /** Deliveries that were not replayed because they have no current target. */
  readonly given_up: number;
};

/** Replays deliveries that failed at or after `since`. Repeat the command after an interruption to replay the rest. */
export const replayFailed = async (
  dependencies: DeliveryDependencies,
  since: Date,
  progress: Progress,
): Promise<Replayed> => {
  const { pool } = dependencies;
  await createDeliveryTables(pool);
  let replayed = 0;
  let given_up = 0;
  let after: Parameters<typeof failedDeliveries>[2] = null;
  for (;;) {
    const failed = await failedDeliveries(pool, since, after, JOB_BATCH);
    const last = failed.at(-1);
    if (!last) return { replayed, given_up };
    const ids = failed.map(({ deliveryId }) => deliveryId);
    const current = await findCurrentTargets(dependencies, ids);
    replayed += (await replayToCurrentTargets(pool, ids, current.targets)).length;
    given_up += current.withoutTarget.length;
    after = last;
    progress(replayed, null);
  }
};

const requireExisting = async (pool: Database, ids: readonly string[]): Promise<void> => {
  const { rows } = await pool.query<{ delivery_id: string }>(
    'select delivery_id from delivery.delivery where delivery_id = any($1::uuid[])',
    [ids],
  );
  const existing = new Set(rows.map(({ delivery_id }) => delivery_id));
  const unknown = ids.filter((id) => !existing.has(id.toLowerCase()));
  if (unknown.length > 0) {
    throw new Refusal('not_found', `Delivery not found: ${unknown.join(', ')}. Nothing was changed.`);
  }
};

/** Replays finished deliveries; changes all or none. Throws `changed_meanwhile` when one has no current target. */
export const replayByIds = async (
  dependencies: DeliveryDependencies,
  input: readonly string[],
): Promise<number> => {
  const { pool } = dependencies;
  const ids = input.map((id) => id.toLowerCase());
  await createDeliveryTables(pool);
  await requireExisting(pool, ids);
  const current = await findCurrentTargets(dependencies, ids);
  if (current.withoutTarget.length > 0) {
    throw new Refusal(
      'changed_meanwhile',
      `The rule is off or deleted, or its channel was removed or is suspended: ${current.withoutTarget.join(', ')}. Nothing was changed.`,
    );
  }
  return (await replayToCurrentTargets(pool, ids, current.targets)).length;
};

export const cancelByIds = async (pool: Database, ids: readonly string[]): Promise<number> => {
  await createDeliveryTables(pool);
  await requireExisting(pool, ids);
  return inTransaction(pool, (client) => cancelDeliveries(client, ids, CANCELLED_BY_OPERATOR, new Date()));
};

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
      ...(rule && { dueAt: dueTime(rule, data.payload.created_at) }),
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
    const rule = await readAlertRule(eventStore, workspaceId, alertId);
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
