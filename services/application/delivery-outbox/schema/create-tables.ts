import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';

const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');
const TAKE_OVER = readFileSync(new URL('./migrate-legacy.sql', import.meta.url), 'utf8');
/** Hash of the schema text, stored as the comment of the schema. An equal hash means that nothing has to be done. */
const FINGERPRINT = hash('sha256', SCHEMA, 'hex');
/** Advisory lock id (any constant). `create … if not exists` is not safe against a concurrent one. */
const SCHEMA_LOCK = 7_205_313;

const isMade = async (pool: Database): Promise<boolean> => {
  const { rows } = await pool.query<{ made: string | null }>(
    `select obj_description(to_regnamespace('delivery')::oid, 'pg_namespace') as made`,
  );
  return rows[0]?.made === FINGERPRINT;
};

/**
 * Creates or upgrades the delivery tables. Alerts, delivery, the API and operator commands all call it; the first
 * one does the work. Later calls compare the fingerprint and take no lock: `create index if not exists` would wait
 * for all writers, and new writers would wait for it.
 */
export const createDeliveryTables = async (pool: Database): Promise<void> => {
  if (await isMade(pool)) return;
  await inTransaction(pool, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
    // Migration: `content` exists only in the old layout. Moves the rows of the old tables into the current ones.
    const { rows } = await client.query<{ before: boolean }>(
      `select to_regclass('delivery.content') is not null as before`,
    );
    const isBefore = rows[0]?.before === true;
    if (isBefore) await client.query('alter schema delivery rename to delivery_before');
    await client.query(SCHEMA);
    if (isBefore) await client.query(TAKE_OVER);
    await client.query(`comment on schema delivery is '${FINGERPRINT}'`);
  });
};
