import { z } from 'zod';
import { LogLevel, Port, readSettings, secret, serverUrl, showSettings } from '#platform/settings.ts';
import { createLog } from '#platform/logger.ts';
import { startEventStore } from './start.ts';

export { startEventStore } from './start.ts';

/**
 * Deadline of an orderly stop. After it the process exits at once, which is safe: acknowledged events are on disk.
 */
const STOP_LIMIT_MS = 10_000;

export const EventStoreSettings = z.object({
  EVENT_STORE_PORT: Port.default(2113).describe('Port of the server; 0 selects any free port.'),
  EVENT_STORE_HOST: z.string().min(1).default('127.0.0.1').describe('Address of the server.'),
  EVENT_STORE_LOCK_WAIT_MS: z.coerce
    .number()
    .int()
    .min(0)
    .max(600_000)
    .default(15_000)
    .describe('Maximum wait in ms for another process to release the database.'),
  EVENT_STORE_DATABASE_URL: serverUrl(
    'postgres',
    z.url({ protocol: /^postgres(ql)?$/ }),
    'PostgreSQL database of the log, used by nothing else.',
  ),
  EVENT_STORE_USER: z.string().min(1).default('service').describe('User name that clients send.'),
  EVENT_STORE_PASSWORD: secret(
    z.string().min(16).optional(),
    'Password that clients send, at least 16 characters. Without it, every program on this machine may connect.',
  ),
  LOG_LEVEL: LogLevel.describe('Log level: `fatal` to `trace`, or `silent`.'),
});

async function main(): Promise<void> {
  let settings: z.infer<typeof EventStoreSettings>;
  try {
    settings = readSettings(EventStoreSettings);
  } catch (error) {
    process.stderr.write(`The event store cannot start. ${(error as Error).message}\n`);
    process.exit(1);
  }
  const log = createLog('event-store', settings.LOG_LEVEL);
  log.info({ settings: showSettings(EventStoreSettings, settings) }, 'starting');
  try {
    const { EVENT_STORE_USER: user, EVENT_STORE_PASSWORD: password } = settings;
    const store = await startEventStore({
      ...(password === undefined ? {} : { credentials: { user, password } }),
      databaseUrl: settings.EVENT_STORE_DATABASE_URL,
      host: settings.EVENT_STORE_HOST,
      port: settings.EVENT_STORE_PORT,
      lockWaitMs: settings.EVENT_STORE_LOCK_WAIT_MS,
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
