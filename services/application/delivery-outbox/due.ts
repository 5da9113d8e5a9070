import { leaseTimeSql } from '#platform/postgres/lease/row-lease.ts';
import type { Database } from '#platform/postgres/pool.ts';

const ENDPOINTS_PER_PAGE = 500;

export type DueEndpoint = { readonly endpoint: string; readonly workspaceId: string };

export type DueEndpoints = { readonly endpoints: readonly DueEndpoint[]; readonly next: string | null };

/** Steps from endpoint to endpoint by the index, so that one with very many costs as much as one with few. */
const DUE_ENDPOINTS = `
  with recursive step (endpoint, n) as (
    (select u.endpoint, 1 from delivery.due u where u.endpoint > $1 order by u.endpoint limit 1)
    union all
    select (select u.endpoint from delivery.due u where u.endpoint > s.endpoint order by u.endpoint limit 1), s.n + 1
    from step s where s.endpoint is not null and s.n < ${ENDPOINTS_PER_PAGE}
  )
  select s.endpoint, (
    select d.workspace_id from (
      select u.delivery_id from delivery.due u
      where u.endpoint = s.endpoint and u.next_attempt_at <= $2 and (u.taken_until is null or u.taken_until <= ${leaseTimeSql('$3')})
      limit 1
    ) one join delivery.delivery d using (delivery_id)
  ) as workspace_id
  from step s where s.endpoint is not null
  order by s.endpoint`;

/** One page after the cursor, `''` for the first. `leaseNow`: `null` for the clock of Postgres. */
export const dueEndpoints = async (
  pool: Database,
  { now, leaseNow }: { readonly now: Date; readonly leaseNow: Date | null },
  after: string,
): Promise<DueEndpoints> => {
  const { rows } = await pool.query<{ endpoint: string; workspace_id: string | null }>({
    name: 'endpoints with due deliveries',
    text: DUE_ENDPOINTS,
    values: [after, now.toISOString(), leaseNow?.toISOString() ?? null],
  });
  const last = rows.at(-1)?.endpoint ?? null;
  return {
    endpoints: rows.flatMap(({ endpoint, workspace_id }) =>
      workspace_id === null ? [] : [{ endpoint, workspaceId: workspace_id }],
    ),
    next: rows.length < ENDPOINTS_PER_PAGE ? null : last,
  };
};
