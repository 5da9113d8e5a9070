import { Counter, type Registry } from 'prom-client';
import { SERVICE_METRICS } from '#platform/telemetry/metrics.ts';
import type { Database } from '#platform/postgres/pool.ts';

const ENTRIES_MAX = 100_000;

/**
 * Counts attempts since the first scrape, up to the last published entry. Entries get their sequence numbers before
 * they commit, so a later entry may still be invisible and would be missed.
 */
export const createAttemptCounter = (registry: Registry, pool: Database): (() => Promise<void>) => {
  const { name, help, labelNames } = SERVICE_METRICS.deliveryAttempts;
  const counter = new Counter({ name, help, labelNames: [...labelNames], registers: [registry] });
  let after: string | null = null;
  let counting: Promise<void> | null = null;
  const count = async (): Promise<void> => {
    const { rows } = await pool.query<{ seq: string }>('select seq from delivery.recorded');
    const recorded = rows[0]?.seq ?? '0';
    if (after === null) {
      after = recorded;
      return;
    }
    const upTo = BigInt(after) + BigInt(ENTRIES_MAX);
    const to = BigInt(recorded) < upTo ? recorded : String(upTo);
    const counted = await pool.query<{ channel: string; class: string; attempts: number }>(
      `select d.channel, coalesce(j.failure, 'delivered') as class, count(*)::int as attempts
       from delivery.journal j join delivery.delivery d using (delivery_id)
       where j.seq > $1 and j.seq <= $2 and j.type = 'DeliveryAttempted' group by 1, 2`,
      [after, to],
    );
    for (const { attempts, ...labels } of counted.rows) counter.inc(labels, attempts);
    after = to;
  };
  // Single-flight: two concurrent runs would count the same entries twice.
  return () => {
    counting ??= count().finally(() => {
      counting = null;
    });
    return counting;
  };
};
