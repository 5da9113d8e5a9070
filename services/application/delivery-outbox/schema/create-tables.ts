import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';

const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');
const TAKE_OVER = readFileSync(new URL('./migrate-legacy.sql', import.meta.url), 'utf8');
/** Kept as the schema's comment: tables that were made from this very text are left alone. */
const FINGERPRINT = hash('sha256', SCHEMA, 'hex');
/** Any constant: `create … if not exists` is not safe against another process doing the same. */
const SCHEMA_LOCK = 7_205_313;

const isMade = async (pool: Database): Promise<boolean> => {
  const { rows } = await pool.query<{ made: string | null }>(
    `select obj_description(to_regnamespace('delivery')::oid, 'pg_namespace') as made`,
  );
  return rows[0]?.made === FINGERPRINT;
};

/**
 * Made by whichever process comes first: alerts, delivery, the API, or an operator's command. Whoever comes later
 * locks nothing, since `create index if not exists` would wait for all who write, and they for it.
 */
export const createDeliveryTables = async (pool: Database): Promise<void> => {
  if (await isMade(pool)) return;
  await inTransaction(pool, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
    // A table that there is no more: what it and the others hold moves into those of now.
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
