import { readFileSync } from 'node:fs';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';

const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');

/**
 * Several processes call this, and the first does the work. Later calls compare the fingerprint without a lock: `create
 * index if not exists` would wait for all writers, and hold up new ones.
 */
export const createDeliveryTables = (pool: Database): Promise<void> =>
  installSchema(pool, { lock: ADVISORY_LOCKS.deliverySchema, sql: SCHEMA, fingerprintOn: 'delivery' });
