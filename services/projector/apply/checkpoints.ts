import { readFileSync } from 'node:fs';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';
import { createRunTables } from '#platform/postgres/lease/leases.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import { PROJECTIONS } from '../control/lease-names.ts';
import type { Target } from './apply-batch.ts';
import {
  createIndexes,
  createTables,
  lockSchemas,
  readCatalog,
  schemaOf,
} from '#application/read-models/schema.ts';

const SCHEMA = readFileSync(new URL('../schema.sql', import.meta.url), 'utf8');

/** Takes no lock for an equal fingerprint: `add column if not exists` always locks, and deadlocked with readers. */
export const createProjectorTables = async (database: Database): Promise<void> => {
  await createRunTables(database);
  await installSchema(database, {
    lock: ADVISORY_LOCKS.readModelSchemas,
    sql: SCHEMA,
    fingerprintOn: 'projector',
  });
};

/** Only counts events: another statement moves the shared cursor or the projection's own row. */
const countEvents =
  (name: string): Target['saveCheckpoint'] =>
  async (client, _position, events) => {
    await client.query({
      name: 'count events',
      text: 'update projector.read_model set facts_applied = facts_applied + $2, updated_at = now() where name = $1',
      values: [name, events],
    });
  };

/** A new projection starts at the beginning of the log, so it needs a row below the shared cursor. */
const START_BEHIND = `
  insert into projector.behind (projection, part, position, epoch, state)
  select $1, part, 0, epoch, 'catching_up' from run.progress where kind = '${PROJECTIONS.kind}' and position > 0`;

/**
 * Creates the tables of a projection that has none. Version 0 leaves them empty until a rebuild replaces them, because
 * no code has that version.
 */
export const createLiveTables = (
  database: Database,
  projection: Projection,
  version: number,
): Promise<void> =>
  inTransaction(database, async (client) => {
    const { name } = projection;
    const schema = schemaOf(name);
    await lockSchemas(client);
    if ((await client.query('select from projector.read_model where name = $1', [name])).rows.length > 0)
      return;
    await createTables(client, projection, schema);
    await createIndexes(client, projection, schema);
    await client.query(
      `insert into projector.read_model (name, version, state) values ($1, $2, 'building')`,
      [name, version],
    );
    await client.query(START_BEHIND, [name]);
  });

export const openLiveTarget = async (database: Database, projection: Projection): Promise<Target> => {
  const schema = schemaOf(projection.name);
  await createLiveTables(database, projection, projection.version);
  return {
    projection,
    schema,
    catalog: await readCatalog(database, schema),
    saveCheckpoint: countEvents(projection.name),
  };
};

export const recordState = async (
  database: Database,
  name: string,
  state: 'building' | 'live' | 'failed',
  lastError: string | null = null,
): Promise<void> => {
  await database.query(
    'update projector.read_model set state = $2, last_error = coalesce($3, last_error) where name = $1',
    [name, state, lastError],
  );
};
