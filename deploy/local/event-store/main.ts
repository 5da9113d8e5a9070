import { pino } from 'pino';
import { z } from 'zod';
import { startEventStore } from './start.ts';

export { startEventStore } from './start.ts';

/** A stop that takes longer ends without ceremony: what was acknowledged is on disk anyway. */
const STOP_LIMIT_MS = 10_000;

const Settings = z.object({
  EVENT_STORE_PORT: z.coerce.number().int().min(0).max(65_535).default(2113),
  EVENT_STORE_HOST: z.string().min(1).default('127.0.0.1'),
  /** How long to wait for a predecessor on the same database to leave. */
  EVENT_STORE_LOCK_WAIT_MS: z.coerce.number().int().min(0).max(600_000).default(15_000),
  EVENT_STORE_DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
});

async function main(): Promise<void> {
  // oxlint-disable-next-line node/no-process-env -- This process has no other place that reads its settings.
  const settings = Settings.safeParse(process.env);
  if (!settings.success) {
    process.stderr.write(`The event store cannot start:\n${z.prettifyError(settings.error)}\n`);
    process.exit(1);
  }
  const log = pino({ level: settings.data.LOG_LEVEL, base: { service: 'event-store' } });
  try {
    const store = await startEventStore({
      databaseUrl: settings.data.EVENT_STORE_DATABASE_URL,
      host: settings.data.EVENT_STORE_HOST,
      port: settings.data.EVENT_STORE_PORT,
      lockWaitMs: settings.data.EVENT_STORE_LOCK_WAIT_MS,
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
