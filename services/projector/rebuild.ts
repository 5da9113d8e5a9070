import type { RecordedFact } from '#contracts/events/fact.ts';
import { encodeProjected, PROJECTED_CHANNEL } from '#contracts/messages/projected.ts';
import type { EventStore } from '#platform/event-store.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres.ts';
import type { Projection } from '#projections/projection.ts';
import { applyBatch, type Target } from './apply-batch.ts';
import {
  analyzeTables,
  createIndexes,
  createTables,
  lockSchemas,
  nextSchemaOf,
  readCatalog,
  schemaOf,
} from './read-model-schema.ts';

/** Facts of one transaction while catching up; larger ones gain nothing (PERFORMANCE.md). */
const REBUILD_BATCH = 5_000;

export type RebuildProgress = { readonly position: bigint; readonly facts: number };

const saveBuildCheckpoint =
  (name: string) =>
  async (client: Transaction, position: bigint, facts: number): Promise<void> => {
    await client.query(
      `update projector.build set position = $2, facts_applied = facts_applied + $3, updated_at = now() where name = $1`,
      [name, position, facts],
    );
  };

const openNextTarget = async (
  database: Database,
  projection: Projection,
): Promise<{ target: Target; position: bigint; facts: number }> => {
  const schema = nextSchemaOf(projection.name);
  const resumed = await inTransaction(database, async (client) => {
    await lockSchemas(client);
    const { rows } = await client.query<{ version: number; position: string; facts_applied: string }>(
      'select version, position, facts_applied from projector.build where name = $1',
      [projection.name],
    );
    const row = rows[0];
    if (row && row.version === projection.version)
      return { position: BigInt(row.position), facts: Number(row.facts_applied) };
    await createTables(client, projection, schema);
    await client.query(
      `insert into projector.build (name, version, position) values ($1, $2, 0)
       on conflict (name) do update set version = excluded.version, position = 0, facts_applied = 0`,
      [projection.name, projection.version],
    );
    return { position: 0n, facts: 0 };
  });
  const catalog = await readCatalog(database, schema);
  return {
    target: { projection, schema, catalog, saveCheckpoint: saveBuildCheckpoint(projection.name) },
    ...resumed,
  };
};

/**
 * Builds a projection anew beside the live one, from nothing or from where an interrupted build stopped,
 * until it has caught up with the log. Stops at a fact it cannot apply, by throwing `PoisonFact`.
 */
export const buildBeside = async (
  database: Database,
  eventStore: EventStore,
  projection: Projection,
  signal: AbortSignal,
  onProgress: (progress: RebuildProgress) => void = () => undefined,
): Promise<bigint> => {
  const { target, ...from } = await openNextTarget(database, projection);
  let { position, facts } = from;
  await using follower = eventStore.follow({
    after: position === 0n ? null : position,
    prefixes: projection.prefixes,
    bufferItems: REBUILD_BATCH * 2,
  });
  for (let caughtUp = false; !caughtUp; ) {
    signal.throwIfAborted();
    const batch: RecordedFact[] = [];
    while (batch.length < REBUILD_BATCH && !caughtUp) {
      for (const item of await follower.take(REBUILD_BATCH - batch.length)) {
        if (item.kind === 'fact') batch.push(item.fact);
        else if (item.kind === 'checkpoint') position = item.position;
        else caughtUp = true;
      }
    }
    const last = batch.at(-1);
    if (last && last.position > position) position = last.position;
    await applyBatch(database, target, batch, position);
    facts += batch.length;
    onProgress({ position, facts });
  }
  await inTransaction(database, (client) => createIndexes(client, projection, target.schema));
  await analyzeTables(database, target.schema, target.catalog);
  return position;
};

/**
 * Puts the built tables in the place of the live ones, in one transaction: readers see the old or the new,
 * never neither. Nobody may write to the live tables meanwhile.
 */
export const swapIn = (database: Database, projection: Projection): Promise<void> =>
  inTransaction(database, async (client) => {
    await lockSchemas(client);
    const schema = schemaOf(projection.name);
    await client.query(`drop schema if exists "${schema}" cascade`);
    await client.query(`alter schema "${nextSchemaOf(projection.name)}" rename to "${schema}"`);
    const swapped = await client.query<{ position: string }>(
      `insert into projector.projection as p (name, version, position, state, facts_applied)
       select name, version, position, 'live', facts_applied from projector.build where name = $1
       on conflict (name) do update set version = excluded.version, position = excluded.position,
         state = excluded.state, facts_applied = excluded.facts_applied, last_error = null, updated_at = now()
       returning position`,
      [projection.name],
    );
    // Readers may believe that it is further.
    const position = BigInt(swapped.rows[0]?.position ?? 0);
    const notice = encodeProjected({ position, projections: [projection.name] });
    await client.query(`select pg_notify('${PROJECTED_CHANNEL}', $1)`, [notice]);
    await client.query('delete from projector.build where name = $1', [projection.name]);
    await client.query('delete from projector.parked where projection = $1', [projection.name]);
  });
