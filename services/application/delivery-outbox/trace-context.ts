import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import { isTracing } from '#platform/telemetry/tracing.ts';

/**
 * Which trace a delivery belongs to. Beside the deliveries, and there only where something is traced: a delivery that
 * is tried again for days, by any process, still goes on with the trace that it came from.
 */
const KEPT_DAYS = 7;
/** Any constant: `create … if not exists` is not safe against another process doing the same. */
const SCHEMA_LOCK = 7_205_316;
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
  await inTransaction(pool, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
    await client.query(SCHEMA);
  });
};

/** In the transaction that queues them. */
export const rememberTraces = async (
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

/** `undefined` of one that was not traced. A look-up that fails costs the span its parent, and nothing else. */
export const traceOf = async (pool: Database, deliveryId: string): Promise<string | undefined> => {
  if (!isTracing()) return undefined;
  const { rows } = await pool
    .query<{ traceparent: string }>('select traceparent from tracing.delivery where delivery_id = $1', [
      deliveryId,
    ])
    .catch(() => ({ rows: [] }));
  return rows[0]?.traceparent;
};
