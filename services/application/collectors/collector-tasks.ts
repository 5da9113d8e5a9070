import type { Database } from '#platform/postgres/pool.ts';

export type TaskCounts = {
  readonly type: string;
  readonly leased: number;
  /** Leases of the last 24 hours that ended as done, ended as failed, or expired. */
  readonly done: number;
  readonly failed: number;
  readonly expired: number;
  /** Brands whose last task failed, and the reason of the newest failure. */
  readonly failing: number;
  readonly last_reason: string | null;
};

const COUNTS = `
  with recent as (
    select type,
      count(*) filter (where ended_at is null and lease_until > $1)::int as leased,
      count(*) filter (where outcome = 'done')::int as done,
      count(*) filter (where outcome = 'failed')::int as failed,
      count(*) filter (where ended_at is null and lease_until <= $1)::int as expired,
      (array_agg(reason order by ended_at desc) filter (where outcome = 'failed'))[1] as last_reason
    from intake.lease where leased_at > $1::timestamptz - interval '1 day' group by type
  ), standing as (
    select type, count(*) filter (where failures > 0)::int as failing from intake.task group by type
  )
  select type, coalesce(leased, 0) as leased, coalesce(done, 0) as done, coalesce(failed, 0) as failed,
    coalesce(expired, 0) as expired, coalesce(failing, 0) as failing, last_reason
  from recent full join standing using (type) order by type`;

/** None before an intake has created its tables. */
export const countTasks = async (database: Database, now: Date): Promise<readonly TaskCounts[]> => {
  const found = await database.query<{ found: boolean }>(
    `select to_regclass('intake.lease') is not null and to_regclass('intake.task') is not null as found`,
  );
  if (found.rows[0]?.found !== true) return [];
  return (await database.query<TaskCounts>(COUNTS, [now])).rows;
};
