import type { AlertChannel, DeliveryKind } from '#contracts/values/alerts.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { type DeliveryTarget, readTarget } from './target.ts';

/** A delivery that a worker has to itself for now, with what it takes to send it. */
export type ClaimedDelivery = {
  readonly deliveryId: string;
  readonly workspaceId: string;
  readonly alertId: string;
  readonly kind: DeliveryKind;
  readonly endpoint: string;
  /** Attempts so far, and those of them in rounds before the last replay. */
  readonly attempts: number;
  readonly attemptsBefore: number;
  readonly target: DeliveryTarget;
  /** Exactly what is signed and sent. */
  readonly payload: Buffer;
};

/** A worker that is not heard of for so long has died, and its deliveries are another's to take. */
export const CLAIM_LEASE_MS = 15_000;
/** How often a worker extends what it still works on; several times a lease. */
export const CLAIM_EXTEND_MS = 4_000;

type Row = {
  readonly delivery_id: string;
  readonly workspace_id: string;
  readonly alert_id: string;
  readonly channel: AlertChannel;
  readonly kind: DeliveryKind;
  readonly endpoint: string;
  readonly attempts: number;
  readonly attempts_before: number;
  readonly target: string;
  readonly payload: string;
};

const CLAIM = `
  with taken as (
    update delivery.due
    set taken_by = $2, taken_until = $3::timestamptz + interval '${CLAIM_LEASE_MS} milliseconds'
    where delivery_id = any($1::uuid[]) and next_attempt_at <= $3 and (taken_until is null or taken_until <= $3)
    returning delivery_id, endpoint, attempts, attempts_before
  )
  select taken.*, workspace_id, alert_id, kind, target, payload
  from taken join delivery.delivery using (delivery_id)`;

const claimedOf = (row: Row): ClaimedDelivery => ({
  deliveryId: row.delivery_id,
  workspaceId: row.workspace_id,
  alertId: row.alert_id,
  kind: row.kind,
  endpoint: row.endpoint,
  attempts: row.attempts,
  attemptsBefore: row.attempts_before,
  target: readTarget(row.target),
  payload: Buffer.from(row.payload, 'utf8'),
});

/**
 * Takes those of the deliveries that are due and nobody else's. The rest is done, put off, or being sent. One that
 * cannot be read, as after a return to an older version, keeps no other from being sent: `unreadable` is told of it,
 * and it is due again when its lease has run out.
 */
export const claim = async (
  pool: Database,
  workerId: string,
  deliveryIds: readonly string[],
  now: Date,
  unreadable: (deliveryId: string, error: unknown) => void,
): Promise<readonly ClaimedDelivery[]> => {
  const values = [deliveryIds, workerId, now.toISOString()];
  const { rows } = await pool.query<Row>({ name: 'claim deliveries', text: CLAIM, values });
  return rows.flatMap((row) => {
    try {
      return [claimedOf(row)];
    } catch (error) {
      unreadable(row.delivery_id, error);
      return [];
    }
  });
};

/** Keeps what this worker still works on. Answers what is still its: the rest was cancelled, or taken over. */
export const extendClaims = async (
  pool: Database,
  workerId: string,
  deliveryIds: readonly string[],
  now: Date,
): Promise<ReadonlySet<string>> => {
  const { rows } = await pool.query<{ delivery_id: string }>(
    `update delivery.due
     set taken_until = $3::timestamptz + interval '${CLAIM_LEASE_MS} milliseconds'
     where delivery_id = any($1::uuid[]) and taken_by = $2
     returning delivery_id`,
    [deliveryIds, workerId, now.toISOString()],
  );
  return new Set(rows.map(({ delivery_id }) => delivery_id));
};

/** What could not be prepared for reasons of ours, such as a server that was slow, is taken up again this soon. */
const PUT_OFF_MS = 1_000;

/** Gives a delivery back unsent, to be claimed by anybody in a while. */
export const putOffClaim = async (
  pool: Database,
  workerId: string,
  deliveryId: string,
  now: Date,
): Promise<void> => {
  await pool.query(
    `update delivery.due set taken_by = null, taken_until = $3
     where delivery_id = $1 and taken_by = $2`,
    [deliveryId, workerId, new Date(now.getTime() + PUT_OFF_MS).toISOString()],
  );
};

/** Gives deliveries back unsent: they stay due. */
export const releaseClaims = async (
  pool: Database,
  workerId: string,
  deliveryIds: readonly string[],
): Promise<void> => {
  await pool.query(
    `update delivery.due set taken_by = null, taken_until = null
     where delivery_id = any($1::uuid[]) and taken_by = $2`,
    [deliveryIds, workerId],
  );
};
