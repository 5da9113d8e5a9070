import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccessTables } from '#application/access/access-tables.ts';
import { createGrowthClaims } from '#application/commands/growth-claims.ts';
import { TimeUsedUp, withTimeBudget } from '#platform/concurrency/time-budget.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { createTestDatabase, type TestDatabase } from '../../stack/database.ts';
import { until } from '../../stack/wait-until.ts';

const LIMIT_MS = 30_000;

let database: TestDatabase;
let pool: ReturnType<typeof openPool>;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = openPool(database.url, 2);
  await createAccessTables(pool);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const claims = async (): Promise<number> =>
  (await pool.query<{ count: number }>('select count(*)::int as count from access.growth_claim')).rows[0]
    ?.count ?? 0;

const GROWTH = { owner: 'ws_1', kind: 'notes', item: 'note-1' } as const;

test('a claim that is stored after the time of its request ends too', async () => {
  const answered = Promise.withResolvers<void>();
  const slow = {
    query: async (text: string, values: unknown[]) => {
      const result = await pool.query(text, values);
      await answered.promise;
      return result;
    },
  } as unknown as Database;
  const hold = () =>
    createGrowthClaims(slow).hold(
      GROWTH,
      async () => 0,
      async () => ({ isShown: true }),
    );
  await expect(withTimeBudget(200, hold)).rejects.toBeInstanceOf(TimeUsedUp);
  expect(await claims()).toBe(1);
  answered.resolve();
  await until('the claim has ended', LIMIT_MS, async () => (await claims()) === 0);
});

test('a claim that cannot be ended changes no reply', async () => {
  const failing = {
    query: async (text: string, values: unknown[]) => {
      if (text.includes('delete')) throw new Error('Postgres is gone');
      return await pool.query(text, values);
    },
  } as unknown as Database;
  const created = createGrowthClaims(failing).hold(
    GROWTH,
    async () => 0,
    async () => ({ isShown: true, id: 'note-1' }),
  );
  await expect(created).resolves.toEqual({ isShown: true, id: 'note-1' });
});
