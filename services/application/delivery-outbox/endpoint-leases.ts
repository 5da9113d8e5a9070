import { leaseTimeSql } from '#platform/postgres/lease/row-lease.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { EMAIL_LEASE } from './target.ts';

/**
 * Leases on endpoints. Only the worker that holds one claims deliveries of that endpoint, so the limits of an endpoint hold
 * over all processes. All endpoints of e-mail have one lease (`leaseKeyOf`). Each take raises the epoch: a release that names an older one does nothing. They are rows of their own,
 * not of `run.lease`, because a claim takes the leases of hundreds of endpoints in its own statement.
 */

/**
 * Milliseconds until the endpoint of a worker that crashed is free. Never shorter than the lease of a claim: it must outlast
 * the claims that were made under it.
 */
export const ENDPOINT_LEASE_MS = 15_000;

/** A lease that a worker holds. `endpoint`: the key of the lease. */
export type EndpointLease = { readonly endpoint: string; readonly epoch: string };

/**
 * Common table expression `leased`: leases the endpoints that no other worker holds, and returns their epochs. `$2` is
 * the worker. `now`: SQL of the time of leases. `endpoints`: a query of the keys of their leases, each once. Rows are locked in the order of the endpoints.
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

/** Extends the leases that a worker still holds, and returns their endpoints: the others were taken by another worker. */
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

/** Releases endpoints, unless the worker has taken them again since. */
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

/** Maximum leases deleted per call. */
const LEASES_PER_TRIM = 5_000;

/** Deletes the rows of endpoints that no worker holds and that have nothing due, except the one of e-mail. Returns how many. */
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
