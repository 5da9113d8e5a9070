import { readFileSync } from 'node:fs';
import { formatProjected, PROJECTED_CHANNEL } from '#contracts/messages/projected.ts';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import type { Target } from './apply-batch.ts';
import { createIndexes, createTables, lockSchemas, readCatalog, schemaOf } from '../read-model-schema.ts';

const SCHEMA = readFileSync(new URL('../schema.sql', import.meta.url), 'utf8');
export type Checkpoint = { readonly version: number; readonly position: bigint };

/**
 * Creates or upgrades the projector's tables. When the fingerprint matches, it takes no lock: `alter table … add
 * column if not exists` locks a table exclusively even when the column exists. Such locks on several tables deadlocked
 * with operators who read the status while a projector started.
 */
export const createProjectorTables = (database: Database): Promise<void> =>
  installSchema(database, {
    lock: ADVISORY_LOCKS.readModelSchemas,
    sql: SCHEMA,
    fingerprintOn: 'projector',
  });

export const readCheckpoint = async (database: Database, name: string): Promise<Checkpoint | null> => {
  const { rows } = await database.query<{ version: number; position: string }>(
    'select version, position from projector.projection where name = $1',
    [name],
  );
  const row = rows[0];
  return row ? { version: row.version, position: BigInt(row.position) } : null;
};

const saveCheckpoint =
  (name: string) =>
  async (client: Transaction, position: bigint, events: number): Promise<void> => {
    await client.query(
      `update projector.projection set position = $2, facts_applied = facts_applied + $3, updated_at = now()
       where name = $1`,
      [name, position, events],
    );
  };

/**
 * A checkpoint and its expected stored position. It is moved only from there: a swap may have changed it
 * meanwhile.
 */
export type StoredCheckpoint = { readonly name: string; readonly stored: bigint };

/** Moves the checkpoints of projections that had no events in the batches, and notifies readers. */
export const moveIdleCheckpoints = async (
  database: Database,
  idle: readonly StoredCheckpoint[],
  position: bigint,
  passed: readonly string[],
): Promise<void> => {
  const names = idle.map(({ name }) => name);
  await database.query(
    `with moved as (
       update projector.projection p set position = $3, updated_at = now()
       from unnest($1::text[], $2::bigint[]) i(name, stored)
       where p.name = i.name and p.position = i.stored returning 1)
     select pg_notify('${PROJECTED_CHANNEL}', $4), (select count(*) from moved)`,
    [names, idle.map(({ stored }) => stored), position, formatProjected({ position, projections: passed })],
  );
};

/** Opens the live tables of a projection. Creates them, empty, if they do not exist. */
export const openLiveTarget = async (database: Database, projection: Projection): Promise<Target> => {
  const schema = schemaOf(projection.name);
  await inTransaction(database, async (client) => {
    await lockSchemas(client);
    if (
      (await client.query('select from projector.projection where name = $1', [projection.name])).rows
        .length > 0
    )
      return;
    await createTables(client, projection, schema);
    await createIndexes(client, projection, schema);
    await client.query(
      `insert into projector.projection (name, version, position, state) values ($1, $2, 0, 'building')`,
      [projection.name, projection.version],
    );
  });
  return {
    projection,
    schema,
    catalog: await readCatalog(database, schema),
    saveCheckpoint: saveCheckpoint(projection.name),
  };
};

export const recordState = async (
  database: Database,
  name: string,
  state: 'building' | 'live' | 'failed',
  lastError: string | null = null,
): Promise<void> => {
  await database.query(
    'update projector.projection set state = $2, last_error = coalesce($3, last_error) where name = $1',
    [name, state, lastError],
  );
};
