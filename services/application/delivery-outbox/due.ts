import type { Database } from '#platform/postgres/pool.ts';

/**
 * What was queued a moment ago is being published by whoever queued it. After this, the message is taken for lost
 * and the delivery is published again.
 */
const PUBLISHING_MS = 2_000;

/** Deliveries that are due and nobody's, longest due first, but those of endpoints that have enough to do. */
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

/** Of one endpoint, those due and nobody's. */
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
