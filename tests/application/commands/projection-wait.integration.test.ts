import { expect, test } from 'vitest';
import { openProjectionWait } from '#application/commands/projection-wait.ts';
import { silentLog } from '#platform/logger.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { createProjectorTables } from '#services/projector/apply/checkpoints.ts';
import { createTestDatabase } from '#tests/stack/database.ts';

const WAIT_MS = 10_000;

test('a wait ends when its read model has passed the position, also without a notice', async () => {
  await using resources = new AsyncDisposableStack();
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const pool = openPool(database.url, 2);
  resources.defer(() => pool.end());
  await createProjectorTables(pool);
  await pool.query(`insert into projector.read_model (name, version, state) values ('notes', 1, 'live')`);
  const projectionWait = resources.use(openProjectionWait(database.url, pool, silentLog()));
  expect(await projectionWait.wait(['notes'], 7n, 1)).toBe(false);

  const passed = projectionWait.wait(['notes'], 7n, WAIT_MS);
  await pool.query(`update run.progress set position = 7 where kind = 'projections'`);
  expect(await passed).toBe(true);
});
