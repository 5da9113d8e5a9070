import { PROJECTED_CHANNEL, formatProjected } from '#contracts/messages/projector.ts';
import type { Log } from '#platform/logger.ts';
import { LeaseLost } from '#platform/postgres/lease/leases.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import { fingerprintOf } from '#projections/schema-fingerprint.ts';
import type { Projection } from '#projections/define-projection.ts';
import { endsSession, isLockTimeout } from '#application/read-models/failures.ts';
import type { BehindRow } from '../apply/running.ts';
import { PROJECTIONS } from '../control/lease-names.ts';
import { catchUpRebuild, openRebuild, type Rebuilding } from './rebuild-projection.ts';
import type { SharedReader } from './shared-read.ts';
import {
  droppedSchemaOf,
  lockSchemas,
  nextSchemaOf,
  oldSchemaOf,
  schemaOf,
} from '#application/read-models/schema.ts';

/** Lifetime of replaced tables without a passed verification. */
const REPLACED_TTL_HOURS = 24;

/**
 * Swaps rebuilt tables in, in one transaction (blue/green). Keeps the old tables in another schema; earlier ones are
 * renamed, because dropping them would wait for readers. `row` proves exclusive access.
 */
export const swapSchemas = (database: Database, projection: Projection, row: BehindRow): Promise<void> =>
  inTransaction(database, async (client) => {
    const { name, prefixes } = projection;
    await lockSchemas(client);
    const [schema, next, old] = [schemaOf(name), nextSchemaOf(name), oldSchemaOf(name)];
    const { rows } = await client.query('select where to_regnamespace(quote_ident($1)) is not null', [old]);
    if (rows.length > 0) {
      // Exists only while readers hold the tables of two earlier swaps. The swap is then retried later.
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
    // Both positions are valid, so the higher one is kept: no event between them is for this projection.
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
      `with built as (delete from projector.parked_in_build where projection = $1 returning *)
       insert into projector.parked select * from built`,
      [name],
    );
    await client.query(
      `update projector.build set state = 'done', finished_at = now(), updated_at = now() where name = $1`,
      [name],
    );
    // Readers may have cached a higher position.
    const position = BigInt(moved.rows[0].position);
    const notice = formatProjected({ position, projections: [name] });
    await client.query(`select pg_notify('${PROJECTED_CHANNEL}', $1)`, [notice]);
  });

export const catchUpAndSwap = async (
  rebuilding: Rebuilding,
  { readAlone }: SharedReader,
  projection: Projection,
  row: BehindRow,
): Promise<void> => {
  const { target, position } = await openRebuild(rebuilding.database, projection);
  await catchUpRebuild(rebuilding, readAlone, target, position);
  await swapSchemas(rebuilding.database, projection, row);
};

/** Returns false while readers hold the tables, to be retried. Logs any other error. */
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

export const dropReplaced = (database: Database, log: Log, name: string): Promise<boolean> =>
  tryToDrop(database, log, name, async (client) => {
    await client.query(`drop schema if exists "${oldSchemaOf(name)}" cascade`);
    await client.query('delete from projector.replaced where name = $1', [name]);
  });

type Unused = { readonly name: string; readonly schema: string };

/** Replaced tables that have expired, and those that readers held at an earlier swap. */
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

/** Drops one unused schema outside `tried`. A reader may block each attempt for a second, so a call makes only one. */
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
