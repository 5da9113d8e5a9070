import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, inTransaction, openPool } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';
import { createTestDatabase, type TestDatabase } from '../../stack/database.ts';
import { until } from '../../stack/wait-until.ts';

const LOCK = 4_711;
const SQL = 'create schema if not exists made; create table if not exists made.item (id text)';
const WAITING = `
  select from pg_locks where locktype = 'advisory' and objid = ${LOCK} and not granted
    and database = (select oid from pg_database where datname = current_database())`;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('an installation that waited for another process goes on with the schema that it created', async () => {
  await using resources = new AsyncDisposableStack();
  const open = (): Database => {
    const pool = openPool(database.url, 1);
    resources.defer(() => pool.end());
    return pool;
  };
  const [first, second, watching] = [open(), open(), open()];
  // The server process of this connection then looks up no schema.
  await installSchema(second, {
    lock: LOCK,
    sql: 'create schema if not exists other',
    fingerprintOn: 'other',
  });
  let installed: Promise<void> | undefined;
  await inTransaction(first, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
    installed = installSchema(second, { lock: LOCK, sql: SQL, fingerprintOn: 'made' });
    await until(
      'the installation waits',
      30_000,
      async () => (await watching.query(WAITING)).rows.length > 0,
    );
    await client.query(SQL);
  });
  await expect(installed).resolves.toBeUndefined();
  await expect(watching.query('select from made.item')).resolves.toBeDefined();
});

test('an installation that waits for a reader of a table lets others read it meanwhile, and ends after the reader', async () => {
  await using resources = new AsyncDisposableStack();
  const pool = openPool(database.url, 3);
  resources.defer(() => pool.end());
  await pool.query('create table read_for_long (id text)');
  const reader = await pool.connect();
  await reader.query('begin; select from read_for_long');
  const sql = 'alter table read_for_long add column if not exists name text';
  const installed = installSchema(pool, { lock: LOCK, sql });
  resources.defer(async () => {
    reader.release(true);
    await installed;
  });
  await until('the installation waits', 30_000, async () => {
    const { rows } = await pool.query(
      `select from pg_locks where mode = 'AccessExclusiveLock' and not granted and relation = 'read_for_long'::regclass`,
    );
    return rows.length > 0;
  });
  await expect(pool.query('select from read_for_long')).resolves.toBeDefined();
  await reader.query('rollback');
  await installed;
  await expect(pool.query('select name from read_for_long')).resolves.toBeDefined();
});
