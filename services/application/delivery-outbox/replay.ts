import { isoTimeMicrosSql } from '#contracts/values/time.ts';
import type { AlertChannel, DeliveryKind, DeliveryStatus } from '#contracts/values/alerts.ts';
import { type AlertRuleState, sendingChannelsOf } from '#domain/workspace/alert/rule-decider.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import type { Cause } from './journal.ts';
import { type DeliveryTarget, endpointOf, readAlertRule, targetOfRule } from './target.ts';

const REPLAY = `
  with moved as (
    insert into delivery.due (delivery_id, workspace_id, alert_id, endpoint, attempts, attempts_before, next_attempt_at)
    select delivery_id, workspace_id, alert_id, endpoint, attempts, attempts, $2 from delivery.overview o
    where delivery_id = any($1::uuid[]) and next_attempt_at is null and ($3::text is null or status = $3)
      and not exists (select from delivery.held h where h.delivery_id = o.delivery_id)
    on conflict do nothing
    returning delivery_id, attempts
  )
  insert into delivery.journal (delivery_id, type, at, attempt, cause)
  select delivery_id, 'DeliveryReplayed', $2, attempts, $4::jsonb from moved
  returning delivery_id`;

export type ReplayOptions = {
  /** Only deliveries of this status. Absent: all that are finished. */
  readonly status?: DeliveryStatus;
  readonly cause?: Cause;
};

/** With the same bytes and ids. Returns the ids of finished deliveries sent again; a sweep finds them. */
export const replayDeliveries = async (
  client: Transaction,
  deliveryIds: readonly string[],
  at: Date,
  { status, cause }: ReplayOptions = {},
): Promise<readonly string[]> => {
  const values = [deliveryIds, at.toISOString(), status ?? null, cause ?? null];
  const { rows } = await client.query<{ delivery_id: string }>(REPLAY, values);
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

/**
 * A replayed delivery goes to the current target of its rule: `null` when the rule is off or deleted, or its channel was
 * removed or is suspended.
 */
export const currentTarget = (
  rule: AlertRuleState,
  { channel, kind }: { readonly channel: AlertChannel; readonly kind: DeliveryKind },
): DeliveryTarget | null => {
  // A notice goes to the creator of the rule, even when the rule is off.
  if (!rule || rule.status === 'deleted') return null;
  const isSent = kind === 'notice' || sendingChannelsOf(rule).includes(channel);
  return isSent ? targetOfRule(rule, channel) : null;
};

type Row = {
  readonly delivery_id: string;
  readonly workspace_id: string;
  readonly alert_id: string;
  readonly channel: AlertChannel;
  readonly kind: DeliveryKind;
};

export type CurrentTargets = {
  readonly targets: ReadonlyMap<string, DeliveryTarget>;
  readonly withoutTarget: readonly string[];
};

export const findCurrentTargets = async (
  { pool, eventStore }: { readonly pool: Database; readonly eventStore: EventStore },
  deliveryIds: readonly string[],
): Promise<CurrentTargets> => {
  const { rows } = await pool.query<Row>(
    `select delivery_id, workspace_id, alert_id, channel, kind from delivery.delivery
     where delivery_id = any($1::uuid[])`,
    [deliveryIds],
  );
  const targets = new Map<string, DeliveryTarget>();
  const withoutTarget: string[] = [];
  for (const [alertId, ofRule] of Map.groupBy(rows, ({ alert_id }) => alert_id)) {
    const rule = await readAlertRule(eventStore, ofRule[0]?.workspace_id ?? '', alertId);
    for (const row of ofRule) {
      const target = currentTarget(rule, row);
      if (target) targets.set(row.delivery_id, target);
      else withoutTarget.push(row.delivery_id);
    }
  }
  return { targets, withoutTarget };
};

/** Returns the ids of deliveries sent again; those without a target are left out. */
export const replayToCurrentTargets = (
  pool: Database,
  ids: readonly string[],
  targets: CurrentTargets['targets'],
  options: ReplayOptions = {},
): Promise<readonly string[]> =>
  inTransaction(pool, async (client) => {
    const sendable = new Set(ids).intersection(targets);
    await updateDeliveryTargets(client, new Map([...targets].filter(([id]) => sendable.has(id))));
    return replayDeliveries(client, [...sendable], new Date(), options);
  });

/** Deliveries that an earlier attempt of the command sent again. */
export const replayedBy = async (pool: Database, commandId: string): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ delivery_id: string }>(
    `select delivery_id from delivery.journal where cause ->> 'command_id' = $1 order by seq`,
    [commandId],
  );
  return rows.map(({ delivery_id }) => delivery_id);
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
