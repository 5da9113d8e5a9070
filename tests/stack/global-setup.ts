import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEventStore } from '#deploy/local/event-store/start.ts';
import { startNats } from '#deploy/local/nats/start.ts';
import { startPostgres } from '#deploy/local/postgres/start.ts';
import { clearStaleStacks, STACK_FOLDER_PREFIX } from './stale-databases.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * Superuser connection to the cluster's maintenance database. Tests create their own databases in the cluster.
     */
    databaseUrl: string;
    /** EventStoreDB connection string. Tests that must see only their own events start another store. */
    eventStoreUrl: string;
    natsUrl: string;
  }
}

const EVENT_STORE_DATABASE = 'event_store';

/** Durability is off: the data is deleted after the run. */
const UNSAFE_AND_FAST = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '128MB',
  max_connections: '300',
};

/** Starts the servers that integration tests share, once per run, and always stops them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await clearStaleStacks();
  const folder = await mkdtemp(join(tmpdir(), `${STACK_FOLDER_PREFIX}${process.pid}-`));
  // As root, PostgreSQL runs as another user, who needs access to this folder.
  await chmod(folder, 0o755);
  const resources = new AsyncDisposableStack();
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  try {
    const postgres = await startPostgres({
      folder: join(folder, 'postgres'),
      port: 0,
      settings: UNSAFE_AND_FAST,
    });
    resources.defer(() => postgres.stop());
    const nats = await startNats({ folder: join(folder, 'nats'), port: 0 });
    resources.defer(() => nats.stop());
    await postgres.createDatabase(EVENT_STORE_DATABASE);
    const eventStore = await startEventStore({
      databaseUrl: postgres.databaseUrl(EVENT_STORE_DATABASE),
      host: '127.0.0.1',
      port: 0,
    });
    resources.defer(() => eventStore.stop());
    project.provide('eventStoreUrl', eventStore.url);
    project.provide('databaseUrl', postgres.url);
    project.provide('natsUrl', nats.url);
  } catch (error) {
    await resources.disposeAsync();
    throw error;
  }
  return () => resources.disposeAsync();
}
