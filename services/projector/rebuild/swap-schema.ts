import { formatProjected, PROJECTED_CHANNEL } from '#contracts/messages/projected.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import { LeaseLost } from '#platform/postgres/lease/prove-lease.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import { fingerprintOf } from '#projections/schema-fingerprint.ts';
import type { Projection } from '#projections/define-projection.ts';
import { endsSession, isLockTimeout } from '../apply/failures.ts';
import type { BehindRow } from '../apply/running.ts';
import { PROJECTIONS } from '../control/lease-names.ts';
import { catchUpRebuild, openRebuild } from './rebuild-projection.ts';
import { droppedSchemaOf, lockSchemas, nextSchemaOf, oldSchemaOf, schemaOf } from '../read-model-schema.ts';

/** Hours after which replaced tables are dropped, if no verification has passed before. */
const REPLACED_TTL_HOURS = 24;

/**
 * Swaps the rebuilt tables in (blue/green) in one transaction: readers see the old or the new tables, never
 * none. The old tables are kept in another schema. Those of an earlier swap are only renamed: dropping them would wait for
 * their readers. Needs exclusive access to both the live and the rebuilt tables; `row` proves that to the live ones. It
 * takes the position of the rebuild.
 */
export const swapSchemas = (database: Database, projection: Projection, row: BehindRow): Promise<void> =>
  inTransaction(database, async (client) => {
    const { name, prefixes } = projection;
    await lockSchemas(client);
    const [schema, next, old] = [schemaOf(name), nextSchemaOf(name), oldSchemaOf(name)];
    const { rows } = await client.query('select where to_regnamespace(quote_ident($1)) is not null', [old]);
    if (rows.length > 0) {
      // It exists only while readers hold the tables of two earlier swaps. The swap is then tried again later.
      await client.query(`drop schema if exists "${droppedSchemaOf(name)}" cascade`);
      await client.query(`alter schema "${old}" rename to "${droppedSchemaOf(name)}"`);
    }
    await client.query(
      `insert into projector.replaced (name, version, position)
       select name, version, $2 from projector.read_model where name = $1
       on conflict (name) do update set version = excluded.version, position = excluded.position, replaced_at = now()`,
      [name, row.position],
    );
    await client.query(`alter schema "${schema}" rename to "${old}"`);
    await client.query(`alter schema "${next}" rename to "${schema}"`);
    // The live checkpoint may be higher if no later event was for this projection. The rebuild has read to
    // the end of the log as well, so the higher one holds for both.
    const moved = await client.query<{ position: string }>(
      `update projector.behind h set position = greatest(h.position, b.position), error = null, next_try = null,
         state = case when h.state = 'failing' then 'catching_up' else h.state end
       from projector.build b
       where b.name = $1 and h.projection = $1 and h.part = $2 and h.position = $3 and h.epoch = $4 returning h.position`,
      [name, PROJECTIONS.part, row.position, row.epoch],
    );
    if (!moved.rows[0]) throw new LeaseLost({ kind: 'projection', part: name });
    await client.query(
      `update projector.read_model p set version = b.version, state = 'live',
         facts_applied = b.facts_applied, last_error = null, updated_at = now(), wanted_version = null,
         prefixes = $2, fingerprint = $3, standing_since = null
       from projector.build b where b.name = $1 and p.name = $1`,
      [name, prefixes, fingerprintOf(projection)],
    );
    await client.query('delete from projector.parked where projection = $1', [name]);
    await client.query(
      `update projector.build set state = 'done', finished_at = now(), updated_at = now() where name = $1`,
      [name],
    );
    // Notifies readers, which may have cached a higher position.
    const position = BigInt(moved.rows[0].position);
    const notice = formatProjected({ position, projections: [name] });
    await client.query(`select pg_notify('${PROJECTED_CHANNEL}', $1)`, [notice]);
  });

/** Catches up once more and swaps. Needs exclusive access to the live tables. */
export const catchUpAndSwap = async (
  database: Database,
  eventStore: EventStore,
  projection: Projection,
  row: BehindRow,
  signal: AbortSignal,
): Promise<void> => {
  const { target, position } = await openRebuild(database, projection);
  await catchUpRebuild(database, eventStore, target, position, signal);
  await swapSchemas(database, projection, row);
};

/**
 * Drops schemas of a projection in a transaction. Returns false if it fails, as it does while readers hold the tables; it is tried
 * again later. Logs any other reason.
 */
export const tryToDrop = async (
  database: Database,
  log: Log,
  name: string,
  drop: (client: Transaction) => Promise<unknown>,
): Promise<boolean> => {
  try {
    await inTransaction(database, async (client) => {
      await lockSchemas(client);
      await drop(client);
    });
    return true;
  } catch (error) {
    if (endsSession(error)) throw error;
    if (!isLockTimeout(error))
      log.warn({ projection: name, err: error }, 'tables not dropped; to be retried');
    return false;
  }
};

/** Drops the tables that a swap replaced. Returns false if readers still hold them. */
export const dropReplaced = (database: Database, log: Log, name: string): Promise<boolean> =>
  tryToDrop(database, log, name, async (client) => {
    await client.query(`drop schema if exists "${oldSchemaOf(name)}" cascade`);
    await client.query('delete from projector.replaced where name = $1', [name]);
  });

type Unused = { readonly name: string; readonly schema: string };

/** Returns replaced tables that have expired, and those that readers held at an earlier swap. */
const readUnused = async (database: Database): Promise<readonly Unused[]> => {
  const { rows: expired } = await database.query<{ name: string }>(
    'select name from projector.replaced where replaced_at < now() - make_interval(hours => $1) order by name',
    [REPLACED_TTL_HOURS],
  );
  const { rows: all } = await database.query<{ name: string }>(
    'select name from projector.read_model order by name',
  );
  const dropped = all.map(({ name }) => ({ name, schema: droppedSchemaOf(name) }));
  const { rows: existing } = await database.query<{ schema: string }>(
    'select nspname as schema from pg_namespace where nspname = any($1)',
    [dropped.map(({ schema }) => schema)],
  );
  const schemas = new Set(existing.map(({ schema }) => schema));
  return [
    ...expired.map(({ name }) => ({ name, schema: oldSchemaOf(name) })),
    ...dropped.filter(({ schema }) => schemas.has(schema)),
  ];
};

/**
 * Attempts to drop one unused schema that is not in `tried`, and adds it there. A call attempts one only, because a reader may
 * hold up each attempt for a second. Returns false if none is left.
 */
export const dropOneUnused = async (database: Database, log: Log, tried: Set<string>): Promise<boolean> => {
  const unused = (await readUnused(database)).find(({ schema }) => !tried.has(schema));
  if (unused === undefined) return false;
  const { name, schema } = unused;
  tried.add(schema);
  if (schema === oldSchemaOf(name)) await dropReplaced(database, log, name);
  else
    await tryToDrop(database, log, name, (client) =>
      client.query(`drop schema if exists "${schema}" cascade`),
    );
  return true;
};
