import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { LogLevel, Port, readSettings, serverUrl, showSettings } from '#platform/settings.ts';
import { createLog, type Log } from '#platform/logger.ts';
import { preparePrivateFolder, readOrCreatePassword } from '../os/private-files.ts';
import type { Credentials } from './calls/authenticate.ts';
import { startEventStore } from './start.ts';

export { startEventStore } from './start.ts';

/** The process exits after this limit, which is safe: acknowledged events are on disk. */
const STOP_LIMIT_MS = 10_000;
/** The server is for development, on this machine only. */
const HOST = '127.0.0.1';
/** User name that clients send. */
const USER = 'service';

export const EventStoreSettings = z.object({
  EVENT_STORE_PORT: Port.default(2113).describe('Port of the server; 0 selects any free port.'),
  EVENT_STORE_DATABASE_URL: serverUrl(
    'postgres',
    z.url({ protocol: /^postgres(ql)?$/ }),
    'PostgreSQL database of the log, used by nothing else.',
  ),
  EVENT_STORE_PASSWORD_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'File with the password that clients send, readable by its owner only. It is made at the first start. Without it, every program on this machine may connect.',
    ),
  LOG_LEVEL: LogLevel.describe('Log level: `fatal` to `trace`, or `silent`.'),
});

type Settings = z.infer<typeof EventStoreSettings>;

/** `null` accepts every client. The first start with a password file makes the password. */
async function credentialsOf(settings: Settings, log: Log): Promise<Credentials | null> {
  if (settings.EVENT_STORE_PASSWORD_FILE === undefined) {
    log.warn('every program on this machine may connect: set EVENT_STORE_PASSWORD_FILE');
    return null;
  }
  const file = resolve(settings.EVENT_STORE_PASSWORD_FILE);
  await preparePrivateFolder(dirname(file));
  const password = await readOrCreatePassword(file);
  log.info({ user: USER, file }, 'clients send this user and the password in this file');
  return { user: USER, password };
}

async function main(): Promise<void> {
  let settings: Settings;
  try {
    settings = readSettings(EventStoreSettings);
  } catch (error) {
    process.stderr.write(`The event store cannot start. ${(error as Error).message}\n`);
    process.exit(1);
  }
  const log = createLog('event-store', settings.LOG_LEVEL);
  log.info({ settings: showSettings(EventStoreSettings, settings) }, 'starting');
  try {
    const credentials = await credentialsOf(settings, log);
    const store = await startEventStore({
      ...(credentials === null ? {} : { credentials }),
      databaseUrl: settings.EVENT_STORE_DATABASE_URL,
      host: HOST,
      port: settings.EVENT_STORE_PORT,
      log,
    });
    const stop = (signal: string) => {
      log.info({ signal }, 'stopping');
      setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
      void store.stop().then(() => process.exit(0));
    };
    process.once('SIGTERM', stop);
    process.once('SIGINT', stop);
  } catch (error) {
    log.fatal({ err: error }, 'event store not started');
    process.stderr.write(
      `The event store cannot start: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    process.exit(1);
  }
}

if (import.meta.main) await main();
