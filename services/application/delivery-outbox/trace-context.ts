import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';
import { isTracing } from '#platform/telemetry/tracing.ts';

/** A delivery can be retried for days, by any process, in the trace that queued it. */
const KEPT_DAYS = 7;
const SCHEMA = `
  create schema if not exists tracing;
  create table if not exists tracing.delivery (
    delivery_id uuid primary key,
    traceparent text not null,
    at timestamptz not null default now()
  );
  delete from tracing.delivery where at < now() - interval '${KEPT_DAYS} days'`;

export const createTraceTables = async (pool: Database): Promise<void> => {
  if (!isTracing()) return;
  await installSchema(pool, { lock: ADVISORY_LOCKS.traceSchema, sql: SCHEMA });
};

/** Call in the transaction that enqueues the deliveries. */
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

/** `undefined` when not traced, or when the query fails: the delivery continues without a parent span. */
export const traceOf = async (pool: Database, deliveryId: string): Promise<string | undefined> => {
  if (!isTracing()) return undefined;
  const { rows } = await pool
    .query<{ traceparent: string }>('select traceparent from tracing.delivery where delivery_id = $1', [
      deliveryId,
    ])
    .catch(() => ({ rows: [] }));
  return rows[0]?.traceparent;
};
