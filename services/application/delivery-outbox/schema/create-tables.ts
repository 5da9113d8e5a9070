import { readFileSync } from 'node:fs';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';

const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');
const MIGRATION = readFileSync(new URL('./migrate-legacy.sql', import.meta.url), 'utf8');
/** Renames tables of the old layout, which alone has `content`. Returns the statements that move their rows. */
const moveOldLayoutAside = async (client: Transaction): Promise<string | null> => {
  const { rows } = await client.query<{ is_old: boolean }>(
    `select to_regclass('delivery.content') is not null as is_old`,
  );
  if (rows[0]?.is_old !== true) return null;
  await client.query('alter schema delivery rename to delivery_before');
  return MIGRATION;
};

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
    migrate: moveOldLayoutAside,
  });
