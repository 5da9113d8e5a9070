import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { startNats } from '#deploy/local/nats/start.ts';
import { freePort } from '#deploy/local/os/ports.ts';
import { type LocalPostgres, startPostgres } from '#deploy/local/postgres/start.ts';
import { startProcess } from '#tests/stack/processes.ts';
import { STACK_FOLDER_PREFIX } from '#tests/stack/stale-databases.ts';

const READY_LIMIT_MS = 120_000;

/** Servers with the settings of `npm start`: acknowledged data is on disk. */
export interface BenchServers {
  readonly databaseUrl: string;
  readonly postmasterPid: number;
  readonly eventStore: { readonly url: string; readonly pid: number };
  readonly natsUrl: string;
  readonly environment: Readonly<Record<string, string>>;
  createDatabase(name: string): Promise<string>;
}

/** The service's pools cancel long statements and listen on connections, which `pg-copy-streams` does not allow. */
export const openPlainPool = (url: string, max: number): Pool => {
  const pool = new Pool({ connectionString: url, max });
  // PostgreSQL closes idle connections when a bench stops it.
  pool.on('error', () => undefined);
  return pool;
};

/** Creates a folder that another user may enter: PostgreSQL runs as one when this process is root. */
export const createFolder = async (resources: AsyncDisposableStack): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), `${STACK_FOLDER_PREFIX}${process.pid}-`));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  return folder;
};

export const startServers = async (
  resources: AsyncDisposableStack,
  postgresFolder?: string,
): Promise<BenchServers> => {
  const folder = await createFolder(resources);
  const dataFolder = postgresFolder ?? join(folder, 'postgres');
  const postgres = await startPostgres({ folder: dataFolder, port: 0 });
  resources.defer(() => postgres.stop());
  const nats = await startNats({ folder: join(folder, 'nats'), port: 0 });
  resources.defer(() => nats.stop());
  const databaseUrl = await createDatabase(postgres, 'read_models');
  const pidFile = await readFile(join(dataFolder, 'cluster', 'postmaster.pid'), 'utf8');
  const eventStore = await startEventStore(resources, await createDatabase(postgres, 'event_store'));
  return {
    databaseUrl,
    postmasterPid: Number(pidFile.split('\n')[0]),
    eventStore,
    natsUrl: nats.url,
    environment: {
      DATABASE_URL: databaseUrl,
      EVENT_STORE_URL: eventStore.url,
      NATS_URL: nats.url,
      LOG_LEVEL: 'warn',
      // The keys of a bench share one workspace, whose limit must not end the bench.
      API_REQUESTS_PER_MINUTE: '1000000000',
    },
    createDatabase: (name) => createDatabase(postgres, name),
  };
};

const createDatabase = async (postgres: LocalPostgres, name: string): Promise<string> => {
  await postgres.createDatabase(name);
  return postgres.databaseUrl(name);
};

const startEventStore = async (
  resources: AsyncDisposableStack,
  databaseUrl: string,
): Promise<BenchServers['eventStore']> => {
  const port = await freePort();
  const store = startProcess('deploy/local/event-store/main.ts', {
    EVENT_STORE_PORT: String(port),
    EVENT_STORE_DATABASE_URL: databaseUrl,
  });
  resources.defer(() => store.kill());
  await store.says('event store listening');
  return { url: `esdb://127.0.0.1:${port}?tls=false`, pid: store.child.pid ?? 0 };
};

export const startService = (
  resources: AsyncDisposableStack,
  { environment }: Pick<BenchServers, 'environment'>,
  name: string,
  settings: Readonly<Record<string, string>> = {},
) => {
  const service = startProcess(`services/${name}/main.ts`, { ...environment, ...settings });
  resources.defer(() => service.kill());
  return { ...service, pid: service.child.pid ?? 0 };
};

export const startApi = async (
  resources: AsyncDisposableStack,
  servers: Pick<BenchServers, 'environment'>,
  settings: Readonly<Record<string, string>> = {},
): Promise<{ readonly origin: string; readonly pid: number }> => {
  const port = await freePort();
  const { pid } = startService(resources, servers, 'api', {
    API_PORT: String(port),
    CURSOR_SECRET: 'a secret for benches only',
    ...settings,
  });
  const origin = `http://127.0.0.1:${port}`;
  await untilAnswers(`${origin}/v1/openapi.json`);
  return { origin, pid };
};

export const untilAnswers = async (url: string): Promise<void> => {
  const limitMs = Date.now() + READY_LIMIT_MS;
  while (!(await fetch(url).catch(() => null))?.ok) {
    if (Date.now() > limitMs) throw new Error(`${url} did not answer in time.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
