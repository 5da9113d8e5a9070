import type { AlertChannel, DeliveryKind } from '#contracts/values/alerts.ts';
import { leaseTimeSql } from '#platform/postgres/lease/row-lease.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';
import { type EndpointLease, leaseEndpointsSql } from './endpoint-leases.ts';
import { type DeliveryTarget, EMAIL_LEASE, leaseKeySql, readTarget } from './target.ts';

export type ClaimedDelivery = {
  readonly deliveryId: string;
  readonly workspaceId: string;
  readonly alertId: string;
  readonly kind: DeliveryKind;
  readonly endpoint: string;
  /** Across replays. */
  readonly attempts: number;
  /** Before the last replay. */
  readonly attemptsBefore: number;
  readonly target: DeliveryTarget;
  readonly payload: Buffer;
};

/** After it, the worker counts as crashed and others may claim. */
export const CLAIM_LEASE_MS = 15_000;
export const CLAIM_EXTEND_MS = 4_000;

export type Claimed = {
  readonly endpoints: readonly EndpointLease[];
  readonly deliveries: readonly ClaimedDelivery[];
};

const NOTHING: Claimed = { endpoints: [], deliveries: [] };

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

type LeasedRow = { readonly lease: string; readonly epoch: string } & (Row | { readonly delivery_id: null });

/** The worker has places for this many deliveries. */
export type EndpointPlaces = { readonly endpoint: string; readonly places: number };

/** `leaseNow`: SQL of the time of leases. */
const isFreeSql = (leaseNow: string): string =>
  `u.next_attempt_at <= $3 and (u.taken_until is null or u.taken_until <= ${leaseNow})`;
const takeSql = (leaseNow: string): string => `
  update delivery.due u
  set taken_by = $2, taken_until = ${leaseNow} + interval '${CLAIM_LEASE_MS} milliseconds'
  from chosen c
  where u.delivery_id = c.delivery_id and ${isFreeSql(leaseNow)}
  returning u.delivery_id, u.endpoint, u.attempts, u.attempts_before`;
const TAKEN_WITH_CONTENT = `
  select leased.endpoint as lease, leased.epoch::text, taken.delivery_id, taken.endpoint, taken.attempts,
    taken.attempts_before, d.workspace_id, d.alert_id, d.kind, d.target, d.payload
  from leased
  left join (taken join delivery.delivery d using (delivery_id)) on ${leaseKeySql('taken.endpoint')} = leased.endpoint`;

/** Places at endpoints that are not listed: `$6`, and for e-mail `$7`. */
const CLAIM = `
  with room as (
    select * from unnest($4::text[], $5::int[]) as l (endpoint, places)
  ), candidate as (
    select u.delivery_id, ${leaseKeySql('u.endpoint')} as lease,
      coalesce(l.places, case when ${leaseKeySql('u.endpoint')} = '${EMAIL_LEASE}' then $7::int else $6::int end) as places,
      row_number() over (partition by u.endpoint order by u.next_attempt_at, u.delivery_id) as place
    from delivery.due u left join room l using (endpoint)
    where u.delivery_id = any($1::uuid[]) and ${isFreeSql(leaseTimeSql('$8'))}
  ), ${leaseEndpointsSql('select distinct lease as endpoint from candidate', leaseTimeSql('$8'))}, chosen as (
    select delivery_id from candidate join leased on leased.endpoint = candidate.lease where place <= places
  ), taken as (${takeSql(leaseTimeSql('$8'))})
  ${TAKEN_WITH_CONTENT}`;

const CLAIM_OF_ENDPOINTS = `
  with room as (
    select * from unnest($1::text[], $4::int[]) as l (endpoint, places)
  ), ${leaseEndpointsSql(`select distinct ${leaseKeySql('endpoint')} as endpoint from room`, leaseTimeSql('$5'))}, chosen as (
    select found.delivery_id from room l join leased on leased.endpoint = ${leaseKeySql('l.endpoint')} cross join lateral (
      select u.delivery_id from delivery.due u
      where u.endpoint = l.endpoint and ${isFreeSql(leaseTimeSql('$5'))}
      order by u.next_attempt_at
      limit l.places
      for update skip locked
    ) found
  ), taken as (${takeSql(leaseTimeSql('$5'))})
  ${TAKEN_WITH_CONTENT}`;

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

export type Claimant = {
  readonly workerId: string;
  readonly now: Date;
  /** `null` for the clock of Postgres. Tests set it. */
  readonly leaseNow: Date | null;
  /** A delivery that cannot be parsed must not block the rest. It is due again when its lease expires. */
  readonly unreadable: (deliveryId: string, error: unknown) => void;
};

/** The row of an endpoint without deliveries has nulls. */
const hasDelivery = (row: LeasedRow): row is LeasedRow & Row => row.delivery_id !== null;

const readClaimed = (rows: readonly LeasedRow[], { unreadable }: Claimant): Claimed => ({
  endpoints: [...new Map(rows.map(({ lease, epoch }) => [lease, { endpoint: lease, epoch }])).values()],
  deliveries: rows.filter(hasDelivery).flatMap((row) => {
    try {
      return [claimedOf(row)];
    } catch (error) {
      unreadable(row.delivery_id, error);
      return [];
    }
  }),
});

/**
 * Claims up to the places at each endpoint. Deliveries of another worker's endpoint stay due: its sweep finds them.
 * `otherPlaces`, `otherEmailPlaces`: at endpoints that `wanted` does not list.
 */
export const claim = async (
  pool: Database,
  claimant: Claimant,
  deliveryIds: readonly string[],
  {
    wanted,
    otherPlaces,
    otherEmailPlaces,
  }: {
    readonly wanted: readonly EndpointPlaces[];
    readonly otherPlaces: number;
    readonly otherEmailPlaces: number;
  },
): Promise<Claimed> => {
  const { rows } = await pool.query<LeasedRow>({
    name: 'claim deliveries',
    text: CLAIM,
    values: [
      deliveryIds,
      claimant.workerId,
      claimant.now.toISOString(),
      wanted.map(({ endpoint }) => endpoint),
      wanted.map(({ places }) => places),
      otherPlaces,
      otherEmailPlaces,
      claimant.leaseNow?.toISOString() ?? null,
    ],
  });
  return readClaimed(rows, claimant);
};

export const claimOfEndpoints = async (
  pool: Database,
  claimant: Claimant,
  wanted: readonly EndpointPlaces[],
): Promise<Claimed> => {
  if (wanted.length === 0) return NOTHING;
  const { rows } = await pool.query<LeasedRow>({
    name: 'claim deliveries of endpoints',
    text: CLAIM_OF_ENDPOINTS,
    values: [
      wanted.map(({ endpoint }) => endpoint),
      claimant.workerId,
      claimant.now.toISOString(),
      wanted.map(({ places }) => places),
      claimant.leaseNow?.toISOString() ?? null,
    ],
  });
  return readClaimed(rows, claimant);
};

/** Returns the ids still held: others were cancelled or claimed by another worker. */
export const extendClaims = async (
  pool: Database,
  workerId: string,
  deliveryIds: readonly string[],
  leaseNow: Date | null,
): Promise<ReadonlySet<string>> => {
  const { rows } = await pool.query<{ delivery_id: string }>(
    `update delivery.due
     set taken_until = ${leaseTimeSql('$3')} + interval '${CLAIM_LEASE_MS} milliseconds'
     where delivery_id = any($1::uuid[]) and taken_by = $2
     returning delivery_id`,
    [deliveryIds, workerId, leaseNow?.toISOString() ?? null],
  );
  return new Set(rows.map(({ delivery_id }) => delivery_id));
};

/** Until the end of the transaction, no other worker can claim the delivery. */
export const holdsClaim = async (
  client: Transaction,
  workerId: string,
  deliveryId: string,
): Promise<boolean> => {
  const { rowCount } = await client.query(
    'select from delivery.due where delivery_id = $1 and taken_by = $2 for update',
    [deliveryId, workerId],
  );
  return rowCount === 1;
};

/** Limits of the pause after an internal failure, such as a slow server or an unreadable secret. */
const PUT_OFF_MIN_MS = 1_000;
const PUT_OFF_MAX_MS = 60_000;

/** No attempt was made. The pause is twice the time that the delivery has been due, within the limits. */
export const putOffClaim = async (
  pool: Database,
  workerId: string,
  deliveryId: string,
  leaseNow: Date | null,
): Promise<void> => {
  await pool.query(
    `update delivery.due set taken_by = null, taken_until = ${leaseTimeSql('$3')} + least(
       greatest(${leaseTimeSql('$3')} - next_attempt_at, interval '${PUT_OFF_MIN_MS} milliseconds'),
       interval '${PUT_OFF_MAX_MS} milliseconds')
     where delivery_id = $1 and taken_by = $2`,
    [deliveryId, workerId, leaseNow?.toISOString() ?? null],
  );
};

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
