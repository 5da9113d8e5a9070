import { join } from 'node:path';
import { type Service, startService } from './supervisor.ts';
import { startNats } from '../nats/start.ts';
import { claimPort } from '../os/ports.ts';
import { readOrCreatePassword } from '../os/private-files.ts';
import { startPostgres } from '../postgres/start.ts';
import type { Progress } from './progress.ts';
import { acceptsConnections, waitUntilReady } from './wait-until-ready.ts';
import { CACHE, type Folders, type LocalSettings } from './settings.ts';

const READ_MODELS_DATABASE = 'ad_intelligence';
/** Services use this at the local event store. */
const EVENT_STORE_USER = 'service';
const EVENT_STORE_DATABASE = 'event_store';
const EVENT_STORE_READY_MS = 60_000;
/** Answers accepted calls on a stop. */
const EVENT_STORE_STOP_MS = 2_000;
/**
 * The last checkpoint writes every changed file, more than 1,500 after a demo load. PostgreSQL stops last with the time
 * left by the others. Afterwards this process exits without killing it; it ends by itself.
 */
const POSTGRES_STOP_MIN_MS = 3_000;

export type Servers = {
  readonly databaseUrl: string;
  readonly eventStoreUrl: string;
  readonly natsUrl: string;
};

/** Skips servers that a setting replaces, and defers the stops. `stopTimeLeftMs`: left when the stop has begun. */
export const startServers = async (
  settings: LocalSettings,
  folders: Folders,
  resources: AsyncDisposableStack,
  progress: Progress,
  signal: AbortSignal,
  stopTimeLeftMs: () => number,
): Promise<Servers> => {
  const needsPostgres = settings.DATABASE_URL === undefined || settings.EVENT_STORE_URL === undefined;
  const starts = await Promise.allSettled([
    needsPostgres ? startPostgres({ folder: folders.postgres, port: 0 }) : null,
    settings.NATS_URL === undefined ? startLocalNats(folders) : null,
  ]);
  const [postgresStart, natsStart] = starts;
  // Deferred before a failure is thrown, so that neither server is left running.
  const postgres = postgresStart.status === 'fulfilled' ? postgresStart.value : null;
  const nats = natsStart.status === 'fulfilled' ? natsStart.value : null;
  if (postgres !== null) {
    resources.defer(() => {
      const limitMs = Math.max(POSTGRES_STOP_MIN_MS, stopTimeLeftMs());
      return Promise.race([postgres.stop(), leaveAfter(limitMs)]);
    });
  }
  if (nats !== null) resources.defer(() => nats.stop());
  for (const start of starts) if (start.status === 'rejected') throw start.reason;
  signal.throwIfAborted();

  if (postgres !== null) {
    await postgres.createDatabase(READ_MODELS_DATABASE);
    await postgres.createDatabase(EVENT_STORE_DATABASE);
    progress.step(`PostgreSQL on port ${postgres.port}`);
  }
  if (nats !== null) progress.step(`NATS on port ${nats.port}`);
  let eventStoreUrl = settings.EVENT_STORE_URL;
  if (eventStoreUrl === undefined) {
    const databaseUrl = postgres?.databaseUrl(EVENT_STORE_DATABASE) ?? '';
    const passwordFile = join(folders.eventStore, 'password');
    const options = { settings, folders, databaseUrl, passwordFile };
    const port = await startLocalEventStore(options, resources, progress, signal);
    progress.step(`event store on port ${port}${portNote(settings.EVENT_STORE_PORT, port)}`);
    eventStoreUrl = `esdb://${EVENT_STORE_USER}:${await readOrCreatePassword(passwordFile)}@127.0.0.1:${port}?tls=false`;
  }
  return {
    databaseUrl: settings.DATABASE_URL ?? postgres?.databaseUrl(READ_MODELS_DATABASE) ?? '',
    eventStoreUrl,
    natsUrl: settings.NATS_URL ?? nats?.url ?? '',
  };
};

const startLocalNats = (folders: Folders) =>
  startNats({ folder: folders.nats, port: 0, cache: join(CACHE, 'nats') });

type EventStoreOptions = {
  readonly settings: LocalSettings;
  readonly folders: Folders;
  readonly databaseUrl: string;
  readonly passwordFile: string;
};

const startLocalEventStore = async (
  { settings, folders, databaseUrl, passwordFile }: EventStoreOptions,
  resources: AsyncDisposableStack,
  progress: Progress,
  signal: AbortSignal,
): Promise<number> => {
  const port = await claimPort(settings.EVENT_STORE_PORT, resources);
  const environment = {
    EVENT_STORE_PORT: String(port),
    EVENT_STORE_DATABASE_URL: databaseUrl,
    EVENT_STORE_PASSWORD_FILE: passwordFile,
    LOG_LEVEL: settings.LOG_LEVEL,
  };
  const definition = { name: 'event-store', entry: 'deploy/local/event-store/main.ts', environment };
  const service: Service = await startService(definition, folders, progress.step);
  resources.defer(() => service.stop(EVENT_STORE_STOP_MS));
  await waitUntilReady('The event store', EVENT_STORE_READY_MS, service, signal, () =>
    acceptsConnections(port),
  );
  return port;
};

export const portNote = (requested: number, chosen: number): string =>
  requested === chosen || requested === 0 ? '' : ` (${requested} is taken)`;

/** Unreferenced, so that an earlier stop does not wait for the timer. */
const leaveAfter = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
