import { format } from 'node:util';
import { z } from 'zod';
import { type Log, createLog, hideTokens } from '../logger.ts';
import { LogLevel, SettingsError, readSettings, showSettings } from '../settings.ts';
import { operatorPortSettings } from './health-server.ts';
import { tracingSettings } from '../telemetry/tracing.ts';

const LEVELS = { debug: 'debug', log: 'info', info: 'info', warn: 'warn', error: 'error' } as const;

/** Libraries print with `console`, but every line of the process is JSON. */
export const logConsole = (log: Log): void => {
  for (const [method, level] of Object.entries(LEVELS)) {
    console[method as keyof typeof LEVELS] = (...values: unknown[]) => {
      log[level]({ printed: hideTokens(format(...values)) }, 'printed by a library');
    };
  }
};

/** Afterwards the process exits with code 1. */
const SHUTDOWN_DEADLINE_MS = 8_000;

export const processSettings = {
  LOG_LEVEL: LogLevel.describe('Minimum level of log messages: `fatal` to `trace`, or `silent`.'),
  ...tracingSettings,
} as const;

/** `ops` has an operator port of its own. */
export const serviceSettings = { ...processSettings, ...operatorPortSettings } as const;

export type ProcessScope<Settings> = {
  readonly settings: Settings;
  /** Resources, disposed in reverse order at shutdown. */
  readonly resources: AsyncDisposableStack;
  /** Loops must stop when it is aborted at shutdown. */
  readonly signal: AbortSignal;
  readonly log: Log;
};

type Schema = z.ZodObject<z.ZodRawShape & typeof processSettings>;
type ProcessSettings = z.infer<z.ZodObject<typeof processSettings>>;

const readOrExit = <S extends Schema>(schema: S): z.infer<S> => {
  try {
    return readSettings(schema) as z.infer<S>;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
};

/**
 * The only owner of settings and signals. `start` returns after setup. SIGTERM, SIGINT or an unhandled error disposes
 * the resources, a second signal exits at once.
 */
export const runProcess = async <S extends Schema>(
  name: string,
  schema: S,
  start: (scope: ProcessScope<z.infer<S>>) => Promise<void>,
): Promise<void> => {
  const settings = readOrExit(schema);
  // The inferred generic type does not express that every schema has these.
  const own = settings as unknown as ProcessSettings;
  const log = createLog(name, own.LOG_LEVEL);
  logConsole(log);
  const controller = new AbortController();
  const { signal } = controller;
  const resources = new AsyncDisposableStack();
  let ending = false;

  const end = async (reason: string, exitCode: number): Promise<void> => {
    if (ending) process.exit(exitCode || 1);
    ending = true;
    log.info({ reason }, 'shutdown started');
    controller.abort();
    const deadline = setTimeout(() => {
      log.error({ deadline_ms: SHUTDOWN_DEADLINE_MS }, 'shutdown deadline passed');
      process.exit(1);
    }, SHUTDOWN_DEADLINE_MS);
    try {
      await resources.disposeAsync();
    } catch (error) {
      log.error({ err: error }, 'shutdown failed');
    }
    clearTimeout(deadline);
    log.info({}, 'shutdown finished');
    process.exit(exitCode);
  };

  process.on('SIGTERM', () => void end('SIGTERM', 0));
  process.on('SIGINT', () => void end('SIGINT', 0));
  process.on('unhandledRejection', (error) => {
    log.fatal({ err: error }, 'unhandled rejection');
    void end('unhandled rejection', 1);
  });
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception');
    void end('uncaught exception', 1);
  });

  try {
    log.info({ settings: showSettings(schema, settings), node: process.version }, 'starting');
    if (own.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined) {
      const { startTelemetry } = await import('../telemetry/telemetry-sdk.ts');
      resources.use(startTelemetry(name, own, log));
    }
    await start({ settings, resources, signal, log });
  } catch (error) {
    // The shutdown began while `start` waited for a server.
    if (signal.aborted) return;
    log.fatal({ err: error }, 'start failed');
    await end('start failed', 1);
  }
};
