import { readFileSync } from 'node:fs';
import { type Database, inTransaction } from '../postgres.ts';

const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');
/** Any constant: `create … if not exists` is not safe against another process doing the same. */
const SCHEMA_LOCK = 7_205_313;

/** Made by whichever process comes first: alerts, delivery, the API, or an operator's command. */
export const createDeliveryTables = (pool: Database): Promise<void> =>
  inTransaction(pool, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
    await client.query(SCHEMA);
  });
