import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, inTransaction, openPool } from '#platform/postgres/pool.ts';
import { fromProjector, readBuild } from '#services/ops/projections.ts';
import { createProjectorTables } from '#services/projector/apply/checkpoints.ts';
import { createTestDatabase } from '../stack/database.ts';

const WAIT = { timeout: 60_000, interval: 20 } as const;

let own: Awaited<ReturnType<typeof createTestDatabase>>;
let database: Database;
beforeAll(async () => {
  own = await createTestDatabase();
  database = openPool(own.url, 3);
});
afterAll(async () => {
  await database.end();
  await own.drop();
});

const deadlock = (): Error => Object.assign(new Error('deadlock detected'), { code: '40P01' });

const waitingReads = async (): Promise<number> => {
  const { rows } = await database.query<{ waiting: number }>(
    `select count(*)::int as waiting from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query like '%projector.lag%'`,
  );
  return rows[0]?.waiting ?? 0;
};

test('retries a read that Postgres aborted because of a deadlock', async () => {
  await createProjectorTables(database);
  const { read } = await inTransaction(database, async (installer) => {
    // Only the read checks for deadlocks within this test, so the read is the one that is aborted.
    await installer.query(`set local deadlock_timeout = '1min'`);
    await installer.query('lock table projector.projection in access exclusive mode');
    const reading = readBuild(database, 'radar');
    await expect.poll(waitingReads, WAIT).toBe(1);
    await installer.query('lock table projector.build in access exclusive mode');
    return { read: reading };
  });
  expect(await read).toBeNull();
});

test('gives up a read after the third deadlock', async () => {
  let attempts = 0;
  const read = fromProjector(() => {
    attempts += 1;
    return Promise.reject(deadlock());
  });
  await expect(read).rejects.toThrow('deadlock detected');
  expect(attempts).toBe(3);
});

test('a projector that finds its tables up to date waits for no reader', async () => {
  await createProjectorTables(database);
  await inTransaction(database, async (reader) => {
    await reader.query('lock table projector.projection, projector.build in access share mode');
    await createProjectorTables(database);
  });
});
