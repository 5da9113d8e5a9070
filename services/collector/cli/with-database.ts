import { z } from 'zod';
import { environmentWithLocalStack, readSettings, serverSettings } from '#platform/settings.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { createCollectorTables } from '../collector-tables.ts';

const POOL_CLIENTS = 2;
const Settings = z.object({ DATABASE_URL: serverSettings.DATABASE_URL });

export const withDatabase = async <T>(run: (database: Database) => Promise<T>): Promise<T> => {
  const { DATABASE_URL } = readSettings(Settings, environmentWithLocalStack());
  await using resources = new AsyncDisposableStack();
  const database = openPool(DATABASE_URL, POOL_CLIENTS);
  resources.defer(() => database.end());
  await createCollectorTables(database);
  return await run(database);
};
