import type { DeliveryKind } from '#contracts/values/alerts.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import type { Transaction } from '#platform/postgres/pool.ts';
import { type DeliveryTarget, endpointOf } from './target.ts';

/** Callers may pass any number. */
const ROWS_PER_STATEMENT = 1_000;

export type NewDelivery = {
  readonly deliveryId: string;
  readonly workspaceId: string;
  readonly alertId: string;
  readonly kind: DeliveryKind;
  readonly target: DeliveryTarget;
  /** Serialised once, so that every attempt signs and sends the same bytes. */
  readonly payload: AlertPayload;
  readonly queuedAt: string;
};

const NOT_ASCII = /[\u0080-\uffff]/g;
/** ASCII-only: identical bytes in every encoding, and half the work to read for sending. */
const asciiJson = (payload: AlertPayload): string =>
  JSON.stringify(payload).replace(
    NOT_ASCII,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * Due now. Existing deliveries stay unchanged. Returns the ids of new ones; pass them to `notifyDue` after the commit.
 */
export const enqueue = (
  client: Transaction,
  deliveries: readonly NewDelivery[],
): Promise<readonly string[]> => insert(client, { name: 'enqueue deliveries', text: ENQUEUE }, deliveries);

/** Not due: `merging/` sends these later, as one. Their `DeliveryQueued` events are in the log. */
export const holdBack = async (client: Transaction, deliveries: readonly NewDelivery[]): Promise<void> => {
  await insert(client, { name: 'hold deliveries back', text: HOLD_BACK }, deliveries);
};

type Statement = { readonly name: string; readonly text: string };

const insert = async (
  client: Transaction,
  statement: Statement,
  deliveries: readonly NewDelivery[],
): Promise<readonly string[]> => {
  const added: string[] = [];
  for (let from = 0; from < deliveries.length; from += ROWS_PER_STATEMENT) {
    added.push(...(await insertSome(client, statement, deliveries.slice(from, from + ROWS_PER_STATEMENT))));
  }
  return added;
};

const insertSql = (put: string): string => `
  with input as (
    select * from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::timestamptz[],
      $8::text[], $9::text[])
      with ordinality as g (delivery_id, workspace_id, alert_id, channel, kind, endpoint, queued_at, target, payload, n)
  ), added as (
    insert into delivery.delivery
      (delivery_id, workspace_id, alert_id, channel, kind, queued_at, endpoint, target, payload)
    select delivery_id, workspace_id, alert_id, channel, kind, queued_at, endpoint, target, payload
    from input order by n
    on conflict do nothing
    returning delivery_id
  ), put as (
    ${put}
  ), noted as (
    insert into delivery.journal (delivery_id, type, at, attempt)
    select delivery_id, 'DeliveryQueued', queued_at, 0
    from input join added using (delivery_id) order by n
  )
  select delivery_id from added`;

const ENQUEUE = insertSql(`
    insert into delivery.due (delivery_id, alert_id, endpoint, attempts, attempts_before, next_attempt_at)
    select delivery_id, alert_id, endpoint, 0, 0, queued_at from input join added using (delivery_id) order by n`);
const HOLD_BACK = insertSql(`
    insert into delivery.held (delivery_id, alert_id, endpoint, items_total, as_of)
    select delivery_id, alert_id, endpoint, (payload::json->>'items_total')::int, payload::json->>'as_of'
    from input join added using (delivery_id) order by n`);

const insertSome = async (
  client: Transaction,
  statement: Statement,
  deliveries: readonly NewDelivery[],
): Promise<readonly string[]> => {
  const { rows } = await client.query<{ delivery_id: string }>({
    ...statement,
    values: [
      deliveries.map(({ deliveryId }) => deliveryId),
      deliveries.map(({ workspaceId }) => workspaceId),
      deliveries.map(({ alertId }) => alertId),
      deliveries.map(({ target }) => target.channel),
      deliveries.map(({ kind }) => kind),
      deliveries.map(({ target, workspaceId }) => endpointOf(target, workspaceId)),
      deliveries.map(({ queuedAt }) => queuedAt),
      deliveries.map(({ target }) => JSON.stringify(target)),
      deliveries.map(({ payload }) => asciiJson(payload)),
    ],
  });
  return rows.map(({ delivery_id }) => delivery_id);
};
