import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTransaction, openPool } from '#platform/postgres/pool.ts';
import { createTestDatabase, type TestDatabase } from '../../stack/database.ts';

/** Primary that became a standby: it answers on open connections, and refuses every write with 25006. */

let database: TestDatabase;
let pool: ReturnType<typeof openPool>;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = openPool(database.url, 1);
  await pool.query('create table kept (id int)');
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const processOf = async (): Promise<number> =>
  (await pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0;

test('a connection that takes no writes is replaced, so that the next one may lead to the new primary', async () => {
  await pool.query('set default_transaction_read_only = on');
  const before = await processOf();
  const writing = inTransaction(pool, (client) => client.query('insert into kept values (1)'));
  await expect(writing).rejects.toMatchObject({ code: '25006' });
  expect(await processOf()).not.toBe(before);
  await inTransaction(pool, (client) => client.query('insert into kept values (2)'));
});
