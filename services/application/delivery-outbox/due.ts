import type { Database } from '#platform/postgres/pool.ts';

/**
 * Grace period in milliseconds for new deliveries: the process that enqueued them publishes them itself. Afterwards
 * the message counts as lost, and the sweep publishes the delivery again.
 */
const PUBLISHING_MS = 2_000;

/** Returns deliveries that are due and not claimed, oldest due time first, without the excluded endpoints. */
export const dueDeliveries = async (
  pool: Database,
  now: Date,
  limit: number,
  exceptEndpoints: readonly string[] = [],
): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ delivery_id: string }>(
    `select delivery_id from delivery.due
     where next_attempt_at <= $1 and (taken_until is null or taken_until <= $1)
       and (attempts > attempts_before or next_attempt_at <= $2)
       and endpoint <> all($4::text[])
     order by next_attempt_at
     limit $3`,
    [now.toISOString(), new Date(now.getTime() - PUBLISHING_MS).toISOString(), limit, exceptEndpoints],
  );
  return rows.map(({ delivery_id }) => delivery_id);
};

/** Returns deliveries of one endpoint that are due and not claimed, oldest due time first. */
export const dueOfEndpoint = async (
  pool: Database,
  endpoint: string,
  now: Date,
  limit: number,
): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ delivery_id: string }>(
    `select delivery_id from delivery.due
     where endpoint = $1 and next_attempt_at <= $2 and (taken_until is null or taken_until <= $2)
     order by next_attempt_at
     limit $3`,
    [endpoint, now.toISOString(), limit],
  );
  return rows.map(({ delivery_id }) => delivery_id);
};
