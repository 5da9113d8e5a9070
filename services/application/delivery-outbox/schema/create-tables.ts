import { readFileSync } from 'node:fs';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';

const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');

/**
 * Creates or upgrades the delivery tables. Alerts, delivery, the API and operator commands all call it; the first
 * one does the work. Later calls compare the fingerprint and take no lock: `create index if not exists` would wait
 * for all writers, and new writers would wait for it.
 */
export const createDeliveryTables = (pool: Database): Promise<void> =>
  installSchema(pool, {
    lock: ADVISORY_LOCKS.deliverySchema,
    sql: SCHEMA,
    fingerprintOn: 'delivery',
  });
