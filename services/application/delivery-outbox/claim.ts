import type { AlertChannel, DeliveryKind } from '#contracts/values/alerts.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { type DeliveryTarget, readTarget } from './target.ts';

/** A delivery that a worker holds the lease of, with everything needed to send it. */
export type ClaimedDelivery = {
  readonly deliveryId: string;
  readonly workspaceId: string;
  readonly alertId: string;
  readonly kind: DeliveryKind;
  readonly endpoint: string;
  /** Attempts made, across replays. */
  readonly attempts: number;
  /** Attempts made before the last replay. */
  readonly attemptsBefore: number;
  readonly target: DeliveryTarget;
  /** The exact bytes that are signed and sent. */
  readonly payload: Buffer;
};

/** Lease of a claim in milliseconds. When it expires, the worker counts as crashed and others may claim. */
export const CLAIM_LEASE_MS = 15_000;
/** Interval in milliseconds at which a worker renews its leases; several times per lease. */
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
 * Claims the deliveries that are due and not leased to another worker. The others are finished, postponed or being
 * sent. A delivery that cannot be parsed (for example after a rollback to an older version) must not block the rest:
 * it is reported to `unreadable` and is due again when its lease expires.
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

/** Renews leases. Returns the ids that this worker still holds: the others were cancelled or claimed by another. */
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

/** Milliseconds until a delivery is tried again that failed for an internal reason, such as a slow server. */
const PUT_OFF_MS = 1_000;

/** Releases a claim without an attempt. Any worker can claim the delivery after `PUT_OFF_MS`. */
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

/** Releases claims without an attempt. The deliveries stay due. */
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
