import { chunk } from 'es-toolkit/array/chunk';
import type { DeliveryKind } from '#contracts/values/alerts.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import type { Transaction } from '#platform/postgres/pool.ts';
import { type DeliveryTarget, endpointOf } from './target.ts';

/** Callers may pass any number. */
const ROWS_PER_STATEMENT = 1_000;

/** Per rule and endpoint. Further instant alerts are held back, and sent as one message when fewer wait. */
export const WAITING_MAX = 10_000;

export type NewDelivery = {
  readonly deliveryId: string;
  readonly workspaceId: string;
  readonly alertId: string;
  readonly kind: DeliveryKind;
  readonly target: DeliveryTarget;
  /** Serialised once, so that every attempt signs and sends the same bytes. */
  readonly payload: AlertPayload;
  readonly queuedAt: string;
  /** It is not sent before. Absent: at once. */
  readonly dueAt?: string;
};

/** Pass it to `notifyDue` after the commit. */
export type QueuedDelivery = { readonly deliveryId: string; readonly endpoint: string };

const NOT_ASCII = /[\u0080-\uffff]/g;
/** ASCII-only: identical bytes in every encoding, and half the work to read for sending. */
const asciiJson = (payload: AlertPayload): string =>
  JSON.stringify(payload).replace(
    NOT_ASCII,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * Order holds: while alerts of a rule are held back, newer ones are too. `$10`: whether any may be held back. A delivery
 * held back has its `DeliveryQueued` event, and `merge-held-back.ts` sends it later.
 */
const ENQUEUE = `
  with given as (
    select * from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::timestamptz[],
      $8::text[], $9::text[], $11::timestamptz[])
      with ordinality
      as g (delivery_id, workspace_id, alert_id, channel, kind, endpoint, queued_at, target, payload, due_at, n)
  ), full_rule as (
    select w.alert_id, w.endpoint
    from (select distinct alert_id, endpoint from given where $10 and kind = 'alert') w
    where exists (select from delivery.held h where h.alert_id = w.alert_id and h.endpoint = w.endpoint)
      or exists (
        select from delivery.due u where u.alert_id = w.alert_id and u.endpoint = w.endpoint offset ${WAITING_MAX - 1})
  ), input as (
    select g.*, f.alert_id is not null and g.kind = 'alert' as is_held
    from given g left join full_rule f using (alert_id, endpoint)
  ), added as (
    insert into delivery.delivery
      (delivery_id, workspace_id, alert_id, channel, kind, queued_at, endpoint, target, payload)
    select delivery_id, workspace_id, alert_id, channel, kind, queued_at, endpoint, target, payload
    from input order by n
    on conflict do nothing
    returning delivery_id
  ), due as (
    insert into delivery.due (delivery_id, workspace_id, alert_id, endpoint, attempts, attempts_before, next_attempt_at)
    select delivery_id, workspace_id, alert_id, endpoint, 0, 0, greatest(queued_at, due_at)
    from input join added using (delivery_id) where not is_held order by n
  ), held as (
    insert into delivery.held (delivery_id, alert_id, endpoint, items_total, as_of)
    select delivery_id, alert_id, endpoint, (payload::json->>'items_total')::int, payload::json->>'as_of'
    from input join added using (delivery_id) where is_held order by n
  ), noted as (
    insert into delivery.journal (delivery_id, type, at, attempt)
    select delivery_id, 'DeliveryQueued', queued_at, 0
    from input join added using (delivery_id) order by n
  )
  select delivery_id as "deliveryId", endpoint from input join added using (delivery_id) where not is_held`;

const insert = async (
  client: Transaction,
  deliveries: readonly NewDelivery[],
  mayHoldBack: boolean,
): Promise<readonly QueuedDelivery[]> => {
  const queued: QueuedDelivery[] = [];
  for (const some of chunk(deliveries, ROWS_PER_STATEMENT)) {
    const { rows } = await client.query<QueuedDelivery>({
      name: 'enqueue deliveries',
      text: ENQUEUE,
      values: [
        some.map(({ deliveryId }) => deliveryId),
        some.map(({ workspaceId }) => workspaceId),
        some.map(({ alertId }) => alertId),
        some.map(({ target }) => target.channel),
        some.map(({ kind }) => kind),
        some.map(({ target, workspaceId }) => endpointOf(target, workspaceId)),
        some.map(({ queuedAt }) => queuedAt),
        some.map(({ target }) => JSON.stringify(target)),
        some.map(({ payload }) => asciiJson(payload)),
        mayHoldBack,
        some.map(({ dueAt }) => dueAt ?? null),
      ],
    });
    queued.push(...rows);
  }
  return queued;
};

/** Existing deliveries stay unchanged. Returns the new ones. */
export const enqueue = (
  client: Transaction,
  deliveries: readonly NewDelivery[],
): Promise<readonly QueuedDelivery[]> => insert(client, deliveries, false);

/** The same, but holds back instant alerts of rules of which too many wait. Returns the new ones that are due. */
export const enqueueOrHoldBack = (
  client: Transaction,
  deliveries: readonly NewDelivery[],
): Promise<readonly QueuedDelivery[]> => insert(client, deliveries, true);
