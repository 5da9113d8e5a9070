import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import type { Projection } from '#projections/define-projection.ts';
import { createTestDatabase } from '../stack/database.ts';
import { openTarget } from './projections.ts';

export type FilledTables = AsyncDisposable & { readonly db: ReadDatabase };

/** Fills tables directly, for tests that need more rows than can be projected from events. */
export const openFilledTables = async (
  projections: readonly Projection[],
  fill: (pool: Database) => Promise<unknown>,
): Promise<FilledTables> => {
  const resources = new AsyncDisposableStack();
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const pool = openPool(database.url, 1);
  resources.defer(() => pool.end());
  for (const projection of projections) await openTarget(pool, projection);
  await fill(pool);
  await pool.query('analyze');
  return {
    db: resources.use(openReadDatabase(database.url)),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
