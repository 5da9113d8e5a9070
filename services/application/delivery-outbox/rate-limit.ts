import type { Database } from '#platform/postgres/pool.ts';

/** Across all workers. `intervalMs`: between two messages. Returns the wait in ms. */
export const reserveSendSlot = async (
  pool: Database,
  endpoint: string,
  now: Date,
  intervalMs: number,
): Promise<number> => {
  const { rows } = await pool.query<{ wait_ms: number }>(
    `insert into delivery.pace as p (endpoint, next_at)
     values ($1, $2::timestamptz + $3 * interval '1 millisecond')
     on conflict (endpoint) do update
       set next_at = greatest(p.next_at, $2::timestamptz) + $3 * interval '1 millisecond'
     returning (extract(epoch from next_at - $2::timestamptz) * 1000 - $3)::float8 as wait_ms`,
    [endpoint, now.toISOString(), intervalMs],
  );
  return Math.max(0, Math.ceil(rows[0]?.wait_ms ?? 0));
};
