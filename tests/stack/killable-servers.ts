import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNats } from '#deploy/local/nats/start.ts';
import { freePort } from '#deploy/local/os/ports.ts';
import { startPostgres } from '#deploy/local/postgres/start.ts';
import { pause } from '#platform/clock.ts';
import { type ServiceProcess, startProcess } from './processes.ts';
import type { ServiceServers } from './service.ts';

/** Each server can be killed and restarted with its data. */
export const KILLABLE = ['postgres', 'nats', 'event store'] as const;
export type Killable = (typeof KILLABLE)[number];

export type KillableServers = AsyncDisposable & {
  /** Tests may store their files in this folder too. */
  readonly home: string;
  readonly urls: ServiceServers;
  /** Kills the server and its children with SIGKILL. */
  kill(which: Killable): Promise<void>;
  /** Starts the server again on the same port, with the same folder. */
  start(which: Killable): Promise<void>;
  /** Deletes the streams of the killed NATS server. Its password stays, as the processes know it. */
  loseNatsStorage(): Promise<void>;
};

/** Kills every process whose command line contains this folder, with SIGKILL. */
export const killOn = async (folder: string): Promise<void> => {
  const runsOn = (pid: string): boolean => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
    } catch {
      return false;
    }
  };
  const pids = readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid && runsOn(pid),
  );
  for (const pid of pids) process.kill(Number(pid), 'SIGKILL');
  while (pids.some(runsOn)) await pause(10);
};

export const startKillableServers = async (name: string): Promise<KillableServers> => {
  const resources = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), `${name}-`));
  await chmod(home, 0o755);
  resources.defer(() => rm(home, { recursive: true, force: true }));
  const folders = { postgres: join(home, 'postgres'), nats: join(home, 'nats') };
  let postgres = await startPostgres({ folder: folders.postgres, port: 0 });
  resources.defer(() => postgres.stop());
  await postgres.createDatabase('event_store');
  await postgres.createDatabase('ad_intelligence');
  let nats = await startNats({ folder: folders.nats, port: 0 });
  resources.defer(() => nats.stop());
  const eventStorePort = await freePort();
  const startEventStore = (): ServiceProcess =>
    startProcess('deploy/local/event-store/main.ts', {
      EVENT_STORE_PORT: String(eventStorePort),
      EVENT_STORE_DATABASE_URL: postgres.databaseUrl('event_store'),
    });
  let eventStore = startEventStore();
  resources.defer(async () => void (await eventStore.stop()));
  await eventStore.says('event store listening');
  return {
    home,
    urls: {
      DATABASE_URL: postgres.databaseUrl('ad_intelligence'),
      EVENT_STORE_URL: `esdb://127.0.0.1:${eventStorePort}?tls=false`,
      NATS_URL: nats.url,
    },
    kill: async (which) => {
      if (which === 'event store') await eventStore.kill();
      else await killOn(folders[which]);
    },
    start: async (which) => {
      if (which === 'event store') eventStore = startEventStore();
      else if (which === 'nats') nats = await startNats({ folder: folders.nats, port: nats.port });
      else postgres = await startPostgres({ folder: folders.postgres, port: postgres.port });
    },
    loseNatsStorage: () => rm(join(folders.nats, 'store'), { recursive: true, force: true }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
