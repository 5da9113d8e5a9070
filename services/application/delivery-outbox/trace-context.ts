import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';
import { isTracing } from '#platform/telemetry/tracing.ts';

/**
 * Days that the trace context of a delivery is stored. A delivery can be retried for days, by any process, and its
 * spans still belong to the trace that queued it. The table is separate from the outbox and exists only where
 * tracing is on.
 */
const KEPT_DAYS = 7;
const SCHEMA = `
  create schema if not exists tracing;
  create table if not exists tracing.delivery (
    delivery_id uuid primary key,
    traceparent text not null,
    at timestamptz not null default now()
  );
  delete from tracing.delivery where at < now() - interval '${KEPT_DAYS} days'`;

/** Creates the trace table and deletes expired rows. Does nothing when tracing is off. */
export const createTraceTables = async (pool: Database): Promise<void> => {
  if (!isTracing()) return;
  await installSchema(pool, { lock: ADVISORY_LOCKS.traceSchema, sql: SCHEMA });
};

/** Stores the `traceparent` of each delivery id. Call it in the transaction that enqueues the deliveries. */
export const storeTraces = async (
  client: Transaction,
  traces: ReadonlyMap<string, string>,
): Promise<void> => {
  if (traces.size === 0) return;
  await client.query(
    `insert into tracing.delivery (delivery_id, traceparent) select * from unnest($1::uuid[], $2::text[])
     on conflict do nothing`,
    [[...traces.keys()], [...traces.values()]],
  );
};

/**
 * Returns the `traceparent` of a delivery, or `undefined` when it was not traced. A failed query also returns
 * `undefined`: the span then has no parent, and the delivery continues.
 */
export const traceOf = async (pool: Database, deliveryId: string): Promise<string | undefined> => {
  if (!isTracing()) return undefined;
  const { rows } = await pool
    .query<{ traceparent: string }>('select traceparent from tracing.delivery where delivery_id = $1', [
      deliveryId,
    ])
    .catch(() => ({ rows: [] }));
  return rows[0]?.traceparent;
};
