import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEventStore } from '#deploy/local/event-store/start.ts';
import { startNats } from '#deploy/local/nats/start.ts';
import { startPostgres } from '#deploy/local/postgres/start.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { clearStaleStacks, STACK_FOLDER_PREFIX, stackRoot } from './stale-databases.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser connection. `host` is the folder of the server's socket; without it, the URL leads to the TCP port. */
    databaseUrl: string;
    /** Tests that must see only their own events start another store. */
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
  max_connections: '600',
  scram_iterations: '1',
};

/** Maximum bytes of the path of a socket, `/.s.PGSQL.65535` in its folder. */
const SOCKET_PATH_BYTES_MAX = 107;

/** A query over a socket takes two thirds of the time of TCP. Returns null when the path would be too long. */
const createSocketFolder = async (folder: string): Promise<string | null> => {
  const socketFolder = join(folder, 'socket');
  if (Buffer.byteLength(join(socketFolder, '.s.PGSQL.65535')) > SOCKET_PATH_BYTES_MAX) return null;
  await mkdir(socketFolder);
  await chmod(socketFolder, 0o777);
  return socketFolder;
};

/** One iteration, because tests open thousands of connections and each would compute 4,096 hashes. */
const storePasswordAgain = async (url: string): Promise<void> => {
  const { username, password } = new URL(url);
  const pool = openPool(url, 1);
  try {
    await pool.query(`alter role "${username}" password '${decodeURIComponent(password)}'`);
  } finally {
    await pool.end();
  }
};

const overSocket = (url: string, socketFolder: string | null): string =>
  socketFolder === null ? url : `${url}?host=${encodeURIComponent(socketFolder)}`;

/** Starts the servers that integration tests share, once per run, and always stops them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await clearStaleStacks();
  const folder = await mkdtemp(join(await stackRoot(), `${STACK_FOLDER_PREFIX}${process.pid}-`));
  // As root, PostgreSQL runs as another user, who needs access to this folder.
  await chmod(folder, 0o755);
  const resources = new AsyncDisposableStack();
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  try {
    const socketFolder = await createSocketFolder(folder);
    const postgres = await startPostgres({
      folder: join(folder, 'postgres'),
      port: 0,
      settings: { ...UNSAFE_AND_FAST, unix_socket_directories: socketFolder ?? '' },
    });
    resources.defer(() => postgres.stop());
    await storePasswordAgain(postgres.url);
    const nats = await startNats({ folder: join(folder, 'nats'), port: 0 });
    resources.defer(() => nats.stop());
    await postgres.createDatabase(EVENT_STORE_DATABASE);
    const eventStore = await startEventStore({
      databaseUrl: overSocket(postgres.databaseUrl(EVENT_STORE_DATABASE), socketFolder),
      host: '127.0.0.1',
      port: 0,
    });
    resources.defer(() => eventStore.stop());
    project.provide('eventStoreUrl', eventStore.url);
    project.provide('databaseUrl', overSocket(postgres.url, socketFolder));
    project.provide('natsUrl', nats.url);
  } catch (error) {
    await resources.disposeAsync();
    throw error;
  }
  return () => resources.disposeAsync();
}
