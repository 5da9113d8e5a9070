import { readFileSync } from 'node:fs';
import { type Database, inTransaction, type Transaction } from '#platform/postgres.ts';
import type { Projection } from '#projections/projection.ts';
import type { Target } from './apply-batch.ts';
import { createIndexes, createTables, lockSchemas, readCatalog, schemaOf } from './read-model-schema.ts';

const SCHEMA = new URL('./schema.sql', import.meta.url);
/** Channel on which readers learn that checkpoints moved. */
export const PROJECTED = 'projected';

export type Checkpoint = { readonly version: number; readonly position: bigint };

export const createProjectorTables = (database: Database): Promise<void> =>
  inTransaction(database, async (client) => {
    await lockSchemas(client);
    await client.query(readFileSync(SCHEMA, 'utf8'));
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
  async (client: Transaction, position: bigint, facts: number): Promise<void> => {
    await client.query(
      `update projector.projection set position = $2, facts_applied = facts_applied + $3, updated_at = now()
       where name = $1`,
      [name, position, facts],
    );
  };

/** Moves the checkpoints of projections that a batch had nothing for, and tells readers about all. */
export const moveIdleCheckpoints = async (
  database: Database,
  names: readonly string[],
  position: bigint,
): Promise<void> => {
  await database.query(
    `with moved as (
       update projector.projection set position = $2, updated_at = now()
       where name = any($1::text[]) and position < $2 returning 1)
     select pg_notify('${PROJECTED}', $2::text), (select count(*) from moved)`,
    [names, position],
  );
};

/** The live target of a projection; its tables are made, empty, where there are none. */
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
