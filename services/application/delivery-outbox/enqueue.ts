import type { DeliveryKind } from '#contracts/values/alerts.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import type { Transaction } from '#platform/postgres/pool.ts';
import { type DeliveryTarget, endpointOf } from './target.ts';

/** Deliveries written by one statement; callers may hand in any number. */
const ROWS_PER_STATEMENT = 1_000;

export type NewDelivery = {
  /** Derived from what it is about, so that the same match is the same delivery however often it is met. */
  readonly deliveryId: string;
  readonly workspaceId: string;
  readonly alertId: string;
  readonly kind: DeliveryKind;
  readonly target: DeliveryTarget;
  /** Stored as bytes right here: what is signed and sent, in every attempt. */
  readonly payload: AlertPayload;
  readonly queuedAt: string;
};

const NOT_ASCII = /[\u0080-\uffff]/g;
/** JSON in ASCII signs only: the same text in every encoding on its way, and half the work to read it for sending. */
const asciiJson = (payload: AlertPayload): string =>
  JSON.stringify(payload).replace(
    NOT_ASCII,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * Writes deliveries that are due now, in the caller's transaction; those that are there already stay as they are.
 * Answers the ids of the new ones, for `publishDue` once the transaction is committed. The events `DeliveryQueued`
 * follow from the journal.
 */
export const enqueue = async (
  client: Transaction,
  deliveries: readonly NewDelivery[],
): Promise<readonly string[]> => {
  if (deliveries.length === 0) return [];
  const added: string[] = [];
  for (let from = 0; from < deliveries.length; from += ROWS_PER_STATEMENT) {
    added.push(...(await enqueueSome(client, deliveries.slice(from, from + ROWS_PER_STATEMENT))));
  }
  return added;
};

const ENQUEUE = `
  with given as (
    select * from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::timestamptz[],
      $8::text[], $9::text[])
      with ordinality as g (delivery_id, workspace_id, alert_id, channel, kind, endpoint, queued_at, target, payload, n)
  ), added as (
    insert into delivery.delivery
      (delivery_id, workspace_id, alert_id, channel, kind, queued_at, endpoint, target, payload)
    select delivery_id, workspace_id, alert_id, channel, kind, queued_at, endpoint, target, payload
    from given order by n
    on conflict do nothing
    returning delivery_id
  ), put as (
    insert into delivery.due (delivery_id, endpoint, attempts, attempts_before, next_attempt_at)
    select delivery_id, endpoint, 0, 0, queued_at from given join added using (delivery_id) order by n
  ), noted as (
    insert into delivery.journal (delivery_id, type, at, attempt)
    select delivery_id, 'DeliveryQueued', queued_at, 0
    from given join added using (delivery_id) order by n
  )
  select delivery_id from added`;

const enqueueSome = async (
  client: Transaction,
  deliveries: readonly NewDelivery[],
): Promise<readonly string[]> => {
  const { rows } = await client.query<{ delivery_id: string }>({
    name: 'enqueue deliveries',
    text: ENQUEUE,
    values: [
      deliveries.map(({ deliveryId }) => deliveryId),
      deliveries.map(({ workspaceId }) => workspaceId),
      deliveries.map(({ alertId }) => alertId),
      deliveries.map(({ target }) => target.channel),
      deliveries.map(({ kind }) => kind),
      deliveries.map(({ target }) => endpointOf(target)),
      deliveries.map(({ queuedAt }) => queuedAt),
      deliveries.map(({ target }) => JSON.stringify(target)),
      deliveries.map(({ payload }) => asciiJson(payload)),
    ],
  });
  return rows.map(({ delivery_id }) => delivery_id);
};
