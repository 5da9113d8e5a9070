import type { DeliveryKind } from '#contracts/values/alerts.ts';
import { leaseTimeSql } from '#platform/postgres/lease/row-lease.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { type DeliveryTarget, ENDPOINT_PREFIX, readTarget } from './target.ts';

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

/**
 * Settings of connections that fill and empty the queue: statements are planned once, for the index. A plan made while the
 * queue is short would read the whole table, and planning each time costs more than the statement.
 */
export const QUEUE_PLANS = '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off';

/** After it, the worker counts as crashed and others may claim. */
export const CLAIM_LEASE_MS = 15_000;
export const CLAIM_EXTEND_MS = 4_000;

/** Sends at once to an endpoint, over all processes; one while it fails. */
const PLACES = { webhook: 16, chat: 1 } as const;
/** There is one mail server, so e-mails of all workspaces share these. */
export const EMAILS_IN_FLIGHT_MAX = 4;

export const EMAIL_GROUP = 'email';
/** Its workspace, or all e-mail, shares places of a process. */
export const groupOf = ({ target, workspaceId }: Pick<ClaimedDelivery, 'target' | 'workspaceId'>): string =>
  target.channel === 'email' ? EMAIL_GROUP : workspaceId;

export type ClaimOptions = {
  readonly workerId: string;
  /** `null` for the clock of Postgres, because those of two hosts differ. Tests set it. */
  readonly now: Date | null;
  /** Endpoints to look at. Earlier ones go first. */
  readonly endpoints: readonly string[];
  readonly places: number;
  readonly groupPlaces: number;
  /** Places left of groups with fewer than `groupPlaces`. */
  readonly groups: ReadonlyMap<string, number>;
};

export type Claimed = {
  readonly deliveries: readonly ClaimedDelivery[];
  /** These have more due than `places` or the group of their first delivery allowed. */
  readonly left: readonly { readonly endpoint: string; readonly group: string }[];
  /** All places of these are taken, so more may be due. */
  readonly full: readonly string[];
  /** Cannot be parsed. */
  readonly unreadable: readonly { readonly deliveryId: string; readonly error: unknown }[];
};

type Row = {
  readonly endpoint: string;
  readonly is_full: boolean;
  readonly is_left: boolean;
  /** `null` in rows about an endpoint. */
  readonly delivery_id: string | null;
  /** In rows about an endpoint: the group. */
  readonly workspace_id: string;
  readonly alert_id: string;
  readonly kind: DeliveryKind;
  readonly attempts: number;
  readonly attempts_before: number;
  readonly target: string;
  readonly payload: string;
};

const NOW = leaseTimeSql('$3');
const IS_FREE = `(u.taken_until is null or u.taken_until <= ${NOW})`;

/**
 * Only the first due rows of an endpoint may be taken, as many as it has places, and a taken row keeps its place. So the
 * limit holds over all processes without a count. It is exceeded by rows that are committed late and were due earlier.
 * Round robin over workspaces, and over the endpoints of each. Skips rows that another process takes at this moment.
 */
const CLAIM = `
  with asked as (
    select a.endpoint, a.n, case
      when e.is_failing then 1
      when a.endpoint like '${ENDPOINT_PREFIX.webhook}%' then ${PLACES.webhook}
      when a.endpoint like '${ENDPOINT_PREFIX.email}%' then ${EMAILS_IN_FLIGHT_MAX}
      else ${PLACES.chat} end as places
    from unnest($1::text[]) with ordinality a (endpoint, n)
    left join delivery.endpoint e using (endpoint)
    where e.not_before is null or e.not_before <= ${NOW}
  ), first as (
    select a.endpoint, a.n, a.places, u.delivery_id, u.is_free, u.place, case
      when a.endpoint like '${ENDPOINT_PREFIX.email}%' then '${EMAIL_GROUP}' else u.workspace_id end as grp
    from asked a cross join lateral (
      select u.delivery_id, u.workspace_id, ${IS_FREE} as is_free,
        row_number() over (order by u.next_attempt_at, u.delivery_id) as place
      from delivery.due u
      where u.endpoint = a.endpoint and u.next_attempt_at <= ${NOW}
      order by u.next_attempt_at, u.delivery_id limit a.places
    ) u
  ), ranked as (
    select f.delivery_id, f.n, g.places, row_number() over (partition by f.grp order by f.place, f.n) as rank
    from first f left join unnest($4::text[], $5::int[]) g (grp, places) using (grp)
    where f.is_free
  ), chosen as (
    select delivery_id from ranked where rank <= coalesce(places, $6::int) order by rank, n limit $7
  ), locked as (
    select u.delivery_id from chosen join delivery.due u using (delivery_id)
    where ${IS_FREE}
    for update of u skip locked
  ), taken as (
    update delivery.due u set taken_by = $2, taken_until = ${NOW} + interval '${CLAIM_LEASE_MS} milliseconds'
    from locked l where u.delivery_id = l.delivery_id
    returning u.delivery_id, u.endpoint, u.attempts, u.attempts_before
  ), state as (
    select f.endpoint, min(f.grp) as grp, count(*) = max(f.places) as is_full,
      count(*) filter (where f.is_free) > count(t.delivery_id) as is_left
    from first f left join taken t using (delivery_id) group by f.endpoint
  )
  select t.endpoint, false as is_full, false as is_left, t.delivery_id, t.attempts, t.attempts_before, d.workspace_id,
    d.alert_id, d.kind, d.target, d.payload
  from taken t join delivery.delivery d using (delivery_id)
  union all
  select endpoint, is_full, is_left, null, null, null, grp, null, null, null, null from state
  where is_full or is_left`;

/** Claims due deliveries of the endpoints, up to the places at each, in each group and in all. */
export const claim = async (pool: Database, options: ClaimOptions): Promise<Claimed> => {
  const { workerId, now, endpoints, places, groupPlaces, groups } = options;
  const { rows } = await pool.query<Row>({
    name: 'claim deliveries',
    text: CLAIM,
    values: [
      endpoints,
      workerId,
      now?.toISOString() ?? null,
      [...groups.keys()],
      [...groups.values()],
      groupPlaces,
      places,
    ],
  });
  const deliveries: ClaimedDelivery[] = [];
  const unreadable: { deliveryId: string; error: unknown }[] = [];
  for (const { delivery_id: deliveryId, ...row } of rows) {
    if (deliveryId === null) continue;
    try {
      deliveries.push({
        deliveryId,
        workspaceId: row.workspace_id,
        alertId: row.alert_id,
        kind: row.kind,
        endpoint: row.endpoint,
        attempts: row.attempts,
        attemptsBefore: row.attempts_before,
        target: readTarget(row.target),
        payload: Buffer.from(row.payload, 'utf8'),
      });
    } catch (error) {
      unreadable.push({ deliveryId, error });
    }
  }
  return {
    deliveries,
    left: rows
      .filter(({ is_left }) => is_left)
      .map(({ endpoint, workspace_id: group }) => ({ endpoint, group })),
    full: rows.filter(({ is_full }) => is_full).map(({ endpoint }) => endpoint),
    unreadable,
  };
};

const ENDPOINTS_PER_PAGE = 500;

/** Steps from endpoint to endpoint by the index, so that one with very many costs as much as one with few. */
const DUE_ENDPOINTS = `
  with recursive step (endpoint, n) as (
    (select u.endpoint, 1 from delivery.due u where u.endpoint > $1 order by u.endpoint limit 1)
    union all
    select (select u.endpoint from delivery.due u where u.endpoint > s.endpoint order by u.endpoint limit 1), s.n + 1
    from step s where s.endpoint is not null and s.n < ${ENDPOINTS_PER_PAGE}
  )
  select s.endpoint, exists (
    select from delivery.due u
    where u.endpoint = s.endpoint and u.next_attempt_at <= ${leaseTimeSql('$2')}
      and (u.taken_until is null or u.taken_until <= ${leaseTimeSql('$2')})
  ) as is_due
  from step s where s.endpoint is not null
  order by s.endpoint`;

/** One page after the cursor, `''` for the first. `next` is the cursor of the next page, `null` after the last. */
export const findDueEndpoints = async (
  pool: Database,
  now: Date | null,
  after: string,
): Promise<{ readonly endpoints: readonly string[]; readonly next: string | null }> => {
  const { rows } = await pool.query<{ endpoint: string; is_due: boolean }>({
    name: 'endpoints with due deliveries',
    text: DUE_ENDPOINTS,
    values: [after, now?.toISOString() ?? null],
  });
  return {
    endpoints: rows.flatMap(({ endpoint, is_due }) => (is_due ? [endpoint] : [])),
    next: rows.length < ENDPOINTS_PER_PAGE ? null : (rows.at(-1)?.endpoint ?? null),
  };
};

/** A claim that was cancelled or taken over is left as it is: its send in flight is not interrupted. */
export const extendClaims = async (
  pool: Database,
  workerId: string,
  deliveryIds: readonly string[],
  now: Date | null,
): Promise<void> => {
  await pool.query(
    `update delivery.due
     set taken_until = ${leaseTimeSql('$3')} + interval '${CLAIM_LEASE_MS} milliseconds'
     where delivery_id = any($1::uuid[]) and taken_by = $2`,
    [deliveryIds, workerId, now?.toISOString() ?? null],
  );
};

/** Limits of the pause after an internal failure, such as a slow server or an unreadable secret. */
const PUT_OFF_MIN_MS = 1_000;
const PUT_OFF_MAX_MS = 60_000;

/** No attempt was made. The pause is the time since the last entry of the journal, within the limits, so it doubles. */
export const putOffClaim = async (
  pool: Database,
  workerId: string,
  deliveryId: string,
  now: Date | null,
): Promise<void> => {
  await pool.query(
    `update delivery.due u set taken_by = null, taken_until = null, next_attempt_at = ${leaseTimeSql('$3')} + least(
       greatest(${leaseTimeSql('$3')} - (select max(j.at) from delivery.journal j where j.delivery_id = u.delivery_id),
         interval '${PUT_OFF_MIN_MS} milliseconds'),
       interval '${PUT_OFF_MAX_MS} milliseconds')
     where delivery_id = $1 and taken_by = $2`,
    [deliveryId, workerId, now?.toISOString() ?? null],
  );
};
