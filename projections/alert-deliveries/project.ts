import type { DeliveryStatus } from '#contracts/values/alerts.ts';
import { ALERT_DELIVERY, type AlertDeliveryEvent } from '#contracts/events/workspace/alert-delivery.ts';
import { ALERT_RULE, type AlertRuleEvent } from '#contracts/events/workspace/alert-rule.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { AlertDeliveryAttempt } from '#contracts/resources/workspace/alert-delivery.ts';
import { type Change, projection } from '../define-projection.ts';

type Named = { readonly workspace_id: string; readonly alert_id: string };

/** Runs at the end of each batch, because outcomes of deleted rules may arrive later from another stream. */
const DROP = `
  with gone as (
    select workspace_id, alert_id from :input i join deleted_alert using (workspace_id, alert_id)
  ), attempts as (
    delete from attempt a using gone g where a.workspace_id = g.workspace_id and a.alert_id = g.alert_id
  ), outcomes as (
    delete from outcome o using gone g where o.workspace_id = g.workspace_id and o.alert_id = g.alert_id
  )
  delete from delivery d using gone g where d.workspace_id = g.workspace_id and d.alert_id = g.alert_id`;

const drop = ({ workspace_id, alert_id }: Named): Change => ({
  kind: 'refresh',
  statement: 'drop',
  row: { workspace_id, alert_id },
});

/** Runs at the end of each batch, because both tables are written set-wise. */
const SETTLE = `
  update delivery d set status = o.status
  from :input i join outcome o using (workspace_id, delivery_id)
  where d.workspace_id = i.workspace_id and d.delivery_id = i.delivery_id and d.status <> o.status`;

const settle = (workspace_id: string, delivery_id: string): Change => ({
  kind: 'refresh',
  statement: 'settle',
  row: { workspace_id, delivery_id },
});

const changesOf = (event: RecordedEvent<AlertDeliveryEvent>): readonly Change[] => {
  const { workspace_id, alert_id, delivery_id } = event.data;
  const key = { workspace_id, delivery_id };
  const become = (
    status: DeliveryStatus,
    next_attempt_at: string | null,
    finished_at: string | null,
    reason: string | null,
  ): Change => {
    const set = { alert_id, status, next_attempt_at, finished_at, reason };
    return { kind: 'upsert', table: 'outcome', key, set };
  };
  switch (event.type) {
    case 'DeliveryQueued': {
      const { channel, kind, payload, queued_at } = event.data;
      const set = { alert_id, channel, kind, items_total: payload.items_total, created_at: queued_at };
      return [{ kind: 'upsert', table: 'delivery', key, set }];
    }
    case 'DeliveryAttempted': {
      const { attempted_at, outcome, reason, next_attempt_at } = event.data;
      const { attempt, failure, status_code, duration_ms } = event.data;
      const shown: AlertDeliveryAttempt = {
        attempt,
        attempted_at,
        outcome,
        failure,
        status_code,
        reason,
        duration_ms,
        next_attempt_at,
      };
      const row = { ...key, alert_id, revision: event.revision, doc: JSON.stringify(shown) };
      return [
        { kind: 'insert', table: 'attempt', row },
        become(outcome, next_attempt_at, outcome === 'retrying' ? null : attempted_at, reason),
      ];
    }
    case 'DeliveryCancelled':
      return [become('cancelled', null, event.data.cancelled_at, event.data.reason)];
    case 'DeliveryReplayed':
      return [become('queued', null, null, null)];
  }
};

export const alertDeliveries = projection<AlertDeliveryEvent | AlertRuleEvent>({
  name: 'alert-deliveries',
  version: 2,
  prefixes: [`${ALERT_DELIVERY}-`, `${ALERT_RULE}-`],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    drop: {
      sql: DROP,
      columns: { workspace_id: 'text', alert_id: 'uuid' },
      touches: ['delivery', 'outcome', 'attempt', 'deleted_alert'],
    },
    settle: {
      sql: SETTLE,
      columns: { workspace_id: 'text', delivery_id: 'uuid' },
      touches: ['delivery', 'outcome'],
    },
  },
  project: (event) => {
    switch (event.type) {
      case 'DeliveryQueued':
      case 'DeliveryAttempted':
      case 'DeliveryCancelled':
      case 'DeliveryReplayed': {
        const { workspace_id, delivery_id } = event.data;
        return [...changesOf(event), settle(workspace_id, delivery_id), drop(event.data)];
      }
      case 'AlertRuleDeleted': {
        const { workspace_id, alert_id } = event.data;
        const row = { workspace_id, alert_id };
        return [{ kind: 'insert', table: 'deleted_alert', row }, drop(event.data)];
      }
      case 'AlertRuleCreated':
      case 'AlertRuleChanged':
      case 'AlertChannelSuspended':
      case 'AlertRuleSuspended':
        return [];
    }
  },
});
