import { readFileSync } from 'node:fs';
import { Refusal } from '#contracts/errors.ts';
import type { ObservationType } from '#contracts/observations/index.ts';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';
import { keyFormatOf } from '../access/key-format.ts';

const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');

/** Differs from API keys, so that neither is accepted as the other. */
export const COLLECTOR_KEY = keyFormatOf('svc_collect_');

export const createCollectorTables = (database: Database): Promise<void> =>
  installSchema(database, { lock: ADVISORY_LOCKS.intakeSchema, sql: SCHEMA, fingerprintOn: 'intake' });

export type Collector = {
  readonly keyId: string;
  /** Every `collector` of its scans begins with it. */
  readonly name: string;
  /** `null`: all types. */
  readonly types: ReadonlySet<string> | null;
};

/**
 * `null` when the key is unknown or revoked. Nothing is cached: every process refuses a revoked key from the next call
 * on.
 */
export const findCollector = async (database: Database, sha256: string): Promise<Collector | null> => {
  const { rows } = await database.query<{ key_id: string; name: string; types: readonly string[] | null }>({
    name: 'intake_find_collector',
    text: 'select key_id, name, types from intake.collector_key where sha256 = $1 and revoked_at is null',
    values: [sha256],
  });
  const [row] = rows;
  if (row === undefined) return null;
  return { keyId: row.key_id, name: row.name, types: row.types === null ? null : new Set(row.types) };
};

export type NewCollectorKey = {
  readonly key_id: string;
  readonly name: string;
  readonly sha256: string;
  readonly last_four: string;
  readonly types: readonly ObservationType[] | null;
};

/**
 * Throws `Refusal` (`already_exists`) when one active name begins with the other: scans of one could pass for those of
 * the other.
 */
export const storeCollectorKey = (database: Database, key: NewCollectorKey): Promise<void> =>
  inTransaction(database, async (client) => {
    // Two concurrent calls could each miss the name of the other.
    await client.query('lock table intake.collector_key in share row exclusive mode');
    const { rows } = await client.query<{ name: string }>(
      `select name from intake.collector_key
       where revoked_at is null and name <> $1 and (starts_with(name, $1) or starts_with($1, name))
       order by name limit 1`,
      [key.name],
    );
    if (rows[0] !== undefined) {
      throw new Refusal(
        'already_exists',
        `The name ${key.name} and the name of the collector ${rows[0].name} begin alike, so their scans could not be told apart. Choose another name.`,
      );
    }
    await client.query(
      'insert into intake.collector_key (key_id, name, sha256, last_four, types) values ($1, $2, $3, $4, $5)',
      [key.key_id, key.name, key.sha256, key.last_four, key.types],
    );
  });

export type CollectorKey = {
  readonly key_id: string;
  readonly name: string;
  readonly last_four: string;
  readonly types: readonly string[] | null;
  readonly issued_at: string;
  readonly revoked_at: string | null;
};

/** Includes revoked keys, by name and age. */
export const listCollectorKeys = async (database: Database): Promise<readonly CollectorKey[]> => {
  const { rows } = await database.query<
    Omit<CollectorKey, 'issued_at' | 'revoked_at'> & { issued_at: Date; revoked_at: Date | null }
  >(
    `select key_id, name, last_four, types, issued_at, revoked_at from intake.collector_key
     order by name, issued_at, key_id`,
  );
  return rows.map((row) => ({
    ...row,
    issued_at: row.issued_at.toISOString(),
    revoked_at: row.revoked_at?.toISOString() ?? null,
  }));
};

/** False when it was revoked before. Throws `Refusal` (`not_found`) for an unknown id. */
export const revokeCollectorKey = async (database: Database, keyId: string): Promise<boolean> => {
  const { rowCount } = await database.query(
    'update intake.collector_key set revoked_at = now() where key_id = $1 and revoked_at is null',
    [keyId],
  );
  if (rowCount === 1) return true;
  const { rows } = await database.query('select from intake.collector_key where key_id = $1', [keyId]);
  if (rows.length === 0) throw new Refusal('not_found', 'Collector key not found. See `collector list`.');
  return false;
};

export type TaskCounts = {
  readonly type: string;
  readonly leased: number;
  /** Leases of the last 24 hours that ended as done, ended as failed, or expired. */
  readonly done: number;
  readonly failed: number;
  readonly expired: number;
  /** Brands whose last task failed, and the reason of the newest failure. */
  readonly failing: number;
  readonly last_reason: string | null;
};

const COUNTS = `
  with recent as (
    select type,
      count(*) filter (where ended_at is null and lease_until > $1)::int as leased,
      count(*) filter (where outcome = 'done')::int as done,
      count(*) filter (where outcome = 'failed')::int as failed,
      count(*) filter (where ended_at is null and lease_until <= $1)::int as expired,
      (array_agg(reason order by ended_at desc) filter (where outcome = 'failed'))[1] as last_reason
    from intake.lease where leased_at > $1::timestamptz - interval '1 day' group by type
  ), standing as (
    select type, count(*) filter (where failures > 0)::int as failing from intake.task group by type
  )
  select type, coalesce(leased, 0) as leased, coalesce(done, 0) as done, coalesce(failed, 0) as failed,
    coalesce(expired, 0) as expired, coalesce(failing, 0) as failing, last_reason
  from recent full join standing using (type) order by type`;

/** None before an intake has created its tables. */
export const countTasks = async (database: Database, now: Date): Promise<readonly TaskCounts[]> => {
  const found = await database.query<{ found: boolean }>(
    `select to_regclass('intake.lease') is not null and to_regclass('intake.task') is not null as found`,
  );
  if (found.rows[0]?.found !== true) return [];
  return (await database.query<TaskCounts>(COUNTS, [now])).rows;
};
