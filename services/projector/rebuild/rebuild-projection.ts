import { type Database, type Transaction, inTransaction } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import type { Target } from '../apply/apply-batch.ts';
import { applyOrPark, type Parking, readParkedStreams } from '../apply/park-stream.ts';
import { readSkippedEvents } from '../dead-letters/excluded-events.ts';
import {
  analyzeTables,
  createIndexes,
  createTables,
  lockSchemas,
  nextSchemaOf,
  readCatalog,
} from '#application/read-models/schema.ts';
import type { Reading, SharedReader } from './shared-read.ts';

export const UNFINISHED = ['reading', 'indexing', 'ready'] as const;

const saveRebuildCheckpoint =
  (name: string) =>
  async (client: Transaction, position: bigint, events: number): Promise<void> => {
    await client.query(
      `update projector.build set position = $2, facts_applied = facts_applied + $3, updated_at = now() where name = $1`,
      [name, position, events],
    );
  };

export const setRebuildState = async (
  database: Database | Transaction,
  name: string,
  state: 'indexing' | 'ready' | 'failed' | 'done' | 'cancelled',
  error: string | null = null,
): Promise<void> => {
  await database.query(
    `update projector.build set state = $2, error = $3, updated_at = now(),
       finished_at = case when $2 in ('failed', 'done', 'cancelled') then now() end
     where name = $1`,
    [name, state, error],
  );
};

/** Creates or resumes a rebuild with its tables and checkpoint. */
export const openRebuild = async (
  database: Database,
  projection: Projection,
): Promise<{ readonly target: Target; readonly position: bigint; readonly isIndexed: boolean }> => {
  const { name, version } = projection;
  const schema = nextSchemaOf(name);
  const resumed = await inTransaction(database, async (client) => {
    await lockSchemas(client);
    const { rows } = await client.query<{ position: string; state: string }>(
      `select position, state from projector.build
       where name = $1 and version = $2 and to_regnamespace(quote_ident($3)) is not null
         and (state = any($4::text[]) or (state = 'asked' and not from_start))`,
      [name, version, schema, UNFINISHED],
    );
    const [row] = rows;
    if (row) {
      const isIndexed = row.state === 'ready';
      if (!isIndexed) {
        await client.query(
          `update projector.build set state = 'reading', error = null, resumed_at = now(), resumed_facts = facts_applied,
             updated_at = now(), finished_at = null where name = $1`,
          [name],
        );
      }
      return { position: BigInt(row.position), isIndexed };
    }
    await createTables(client, projection, schema);
    await client.query('delete from projector.parked_in_build where projection = $1', [name]);
    await client.query(
      `insert into projector.build (name, version, position, state, started_at, resumed_at)
       values ($1, $2, 0, 'reading', now(), now())
       on conflict (name) do update set version = excluded.version, position = 0, facts_applied = 0, state = 'reading',
         error = null, is_cancelled = false, started_at = now(), resumed_at = now(), resumed_facts = 0,
         updated_at = now(), finished_at = null`,
      [name, version],
    );
    return { position: 0n, isIndexed: false };
  });
  const catalog = await readCatalog(database, schema);
  return { target: { projection, schema, catalog, saveCheckpoint: saveRebuildCheckpoint(name) }, ...resumed };
};

export type Rebuilding = {
  /** Proves the lease in each transaction. */
  readonly database: Database;
  readonly signal: AbortSignal;
  readonly onPoison: Parking['onPoison'];
};

/** Applies or parks all events since the checkpoint. Returns the new position and the number of events. */
export const catchUpRebuild = async (
  { database, signal, onPoison }: Rebuilding,
  read: SharedReader['read'],
  target: Target,
  after: bigint,
): Promise<{ readonly position: bigint; readonly events: number }> => {
  const { name, prefixes } = target.projection;
  const excluded = await readSkippedEvents(database, name);
  const parked = await readParkedStreams(database, name, 'parked_in_build');
  const parking = { table: 'parked_in_build', prove: () => Promise.resolve(), onPoison } as const;
  let events = 0;
  const apply: Reading['apply'] = async (range, upTo) => {
    const wanted = excluded.without(range);
    await applyOrPark(database, target, parked, wanted, upTo, parking);
    events += wanted.length;
  };
  const position = await read({ after, to: null, prefixes, signal, apply });
  return { position, events };
};

const PASSES_MAX = 10;
/** A pass that applies at most this many events makes a rebuild ready for the swap. */
const NEAR_EVENTS = 1_000;

/** Rebuilds (blue/green) or resumes: rows, then indexes, then the events recorded meanwhile. */
export const rebuildProjection = async (
  rebuilding: Rebuilding,
  { prepare, read, readAlone, inTurn }: SharedReader,
  projection: Projection,
): Promise<void> => {
  const { database, signal } = rebuilding;
  const { target, isIndexed, ...opened } = await prepare(() => openRebuild(database, projection));
  let { position, events } = await catchUpRebuild(rebuilding, read, target, opened.position);
  if (!isIndexed) {
    await inTurn(async () => {
      signal.throwIfAborted();
      await inTransaction(database, (client) => setRebuildState(client, projection.name, 'indexing'));
      await inTransaction(database, async (client) => {
        await createIndexes(client, projection, target.schema);
        await setRebuildState(client, projection.name, 'ready');
      });
      await analyzeTables(database, target.schema, target.catalog);
    });
    if (position === opened.position) return;
    events = NEAR_EVENTS + 1;
  }
  for (let passes = 0; events > NEAR_EVENTS && passes < PASSES_MAX; passes += 1) {
    ({ position, events } = await catchUpRebuild(rebuilding, readAlone, target, position));
  }
};
