import { leaseTimeSql } from '#platform/postgres/lease/row-lease.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { EMAIL_LEASE } from './target.ts';

/**
 * Only the holder claims an endpoint's deliveries, so its limits hold over all processes. All e-mail has one lease
 * (`leaseKeyOf`). Each take raises the epoch, and a release of an older one does nothing. Not in `run.lease`: a claim
 * takes hundreds in its own statement.
 */

/** A crashed worker's endpoint is free after this. Must outlast the claims made under it. */
export const ENDPOINT_LEASE_MS = 15_000;

export type EndpointLease = { readonly endpoint: string; readonly epoch: string };

/**
 * CTE `leased`: endpoints that no other worker holds, with epochs. `$2`: the worker. `endpoints`: a query of distinct
 * lease keys. Locks rows in the order of the endpoints.
 */
export const leaseEndpointsSql = (endpoints: string, now: string): string => `
  leased as (
    insert into delivery.endpoint_lease as l (endpoint, owner, epoch, until)
    select w.endpoint, $2::text, 1, ${now} + interval '${ENDPOINT_LEASE_MS} milliseconds'
    from (${endpoints}) w
    where not exists (
      select from delivery.endpoint_lease o where o.endpoint = w.endpoint and o.owner <> $2::text and o.until > ${now})
    order by w.endpoint
    on conflict (endpoint) do update set owner = excluded.owner, epoch = l.epoch + 1, until = excluded.until
    where l.owner is null or l.owner = excluded.owner or l.until <= ${now}
    returning l.endpoint, l.epoch
  )`;

const EXTEND = `
  with own as (
    select endpoint from delivery.endpoint_lease where endpoint = any($1::text[]) and owner = $2
    order by endpoint for update
  )
  update delivery.endpoint_lease l set until = ${leaseTimeSql('$3')} + interval '${ENDPOINT_LEASE_MS} milliseconds'
  from own where l.endpoint = own.endpoint
  returning l.endpoint`;

/** Returns the endpoints still held; another worker has taken the others. */
export const extendEndpointLeases = async (
  pool: Database,
  workerId: string,
  endpoints: readonly string[],
  leaseNow: Date | null,
): Promise<ReadonlySet<string>> => {
  const { rows } = await pool.query<{ endpoint: string }>({
    name: 'extend endpoint leases',
    text: EXTEND,
    values: [endpoints, workerId, leaseNow?.toISOString() ?? null],
  });
  return new Set(rows.map(({ endpoint }) => endpoint));
};

const RELEASE = `
  with own as (
    select endpoint from delivery.endpoint_lease join unnest($1::text[], $2::bigint[]) as i (endpoint, epoch) using (endpoint, epoch)
    where owner = $3
    order by endpoint for update of endpoint_lease
  )
  update delivery.endpoint_lease l set owner = null, until = null from own where l.endpoint = own.endpoint`;

/** An endpoint that the worker has taken again stays. */
export const releaseEndpointLeases = async (
  pool: Database,
  workerId: string,
  leases: readonly EndpointLease[],
): Promise<void> => {
  await pool.query({
    name: 'release endpoint leases',
    text: RELEASE,
    values: [leases.map(({ endpoint }) => endpoint), leases.map(({ epoch }) => epoch), workerId],
  });
};

const LEASES_PER_TRIM = 5_000;

/** Keeps the row of e-mail, and rows with a holder or due deliveries. Returns how many were deleted. */
export const deleteUnusedLeases = async (pool: Database): Promise<number> => {
  const { rowCount } = await pool.query(
    `delete from delivery.endpoint_lease where endpoint in (
       select endpoint from delivery.endpoint_lease l
       where owner is null and endpoint <> '${EMAIL_LEASE}' and not exists (select from delivery.due u where u.endpoint = l.endpoint)
       order by endpoint limit $1 for update skip locked)`,
    [LEASES_PER_TRIM],
  );
  return rowCount ?? 0;
};
