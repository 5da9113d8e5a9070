import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { startNats } from '#deploy/local/nats/start.ts';
import { startPostgres } from '#deploy/local/postgres/start.ts';
import { STACK_FOLDER_PREFIX } from '../stack/stale-databases.ts';
import { type ServerProcess, startStore } from './event-store/processes.ts';

/** The servers of one bench, with the settings of `npm start`: acknowledged data is on disk. */
export interface BenchServers {
  readonly databaseUrl: string;
  readonly postmasterPid: number;
  readonly eventStore: ServerProcess;
  readonly natsUrl: string;
  /** Environment variables for processes of the service. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Opens a pool for filling tables and for COPY. The pools of the service cancel a statement after some seconds, which filling at
 * full size exceeds, and listen for data on their connections, which COPY TO of `pg-copy-streams` does not allow.
 */
export const openPlainPool = (url: string, max: number): Pool => {
  const pool = new Pool({ connectionString: url, max });
  // PostgreSQL closes idle connections when a bench stops it.
  pool.on('error', () => undefined);
  return pool;
};

export async function startServers(resources: AsyncDisposableStack): Promise<BenchServers> {
  const folder = await mkdtemp(join(tmpdir(), `${STACK_FOLDER_PREFIX}${process.pid}-`));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  // PostgreSQL refuses to run as root. It then runs as another user, who needs access to the folder.
  await chmod(folder, 0o755);
  const postgres = await startPostgres({ folder: join(folder, 'postgres'), port: 0 });
  resources.defer(() => postgres.stop());
  const nats = await startNats({ folder: join(folder, 'nats'), port: 0 });
  resources.defer(() => nats.stop());
  await postgres.createDatabase('read_models');
  await postgres.createDatabase('event_store');
  const pidFile = await readFile(join(folder, 'postgres', 'cluster', 'postmaster.pid'), 'utf8');
  const postmasterPid = Number(pidFile.split('\n')[0]);
  const eventStore = await startStore(postgres.databaseUrl('event_store'), postmasterPid);
  resources.defer(() => eventStore.stop());
  const databaseUrl = postgres.databaseUrl('read_models');
  return {
    databaseUrl,
    postmasterPid,
    eventStore,
    natsUrl: nats.url,
    environment: {
      DATABASE_URL: databaseUrl,
      EVENT_STORE_URL: eventStore.url,
      NATS_URL: nats.url,
      // The keys of a bench share one workspace, whose limit must not end the bench.
      API_REQUESTS_PER_MINUTE: '1000000000',
    },
  };
}
