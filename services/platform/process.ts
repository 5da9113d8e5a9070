import type { Log } from './log.ts';

/** Ordered shutdown may take this long before the process leaves anyway. */
const SHUTDOWN_DEADLINE_MS = 8_000;

export type ProcessScope = {
  /** Resources, disposed in reverse order at shutdown. */
  readonly resources: AsyncDisposableStack;
  /** Aborted when the process is asked to end; loops watch it. */
  readonly signal: AbortSignal;
  readonly log: Log;
};

/**
 * Runs a long-lived process: the one owner of signals. `start` sets everything up and returns; SIGTERM,
 * SIGINT or a fault then disposes of the resources in reverse order, within a deadline. A second signal
 * ends it at once.
 */
export const runProcess = async (log: Log, start: (scope: ProcessScope) => Promise<void>): Promise<void> => {
  const controller = new AbortController();
  const resources = new AsyncDisposableStack();
  let ending = false;

  const end = async (reason: string, exitCode: number): Promise<void> => {
    if (ending) process.exit(exitCode || 1);
    ending = true;
    log.info({ reason }, 'ending');
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
    log.info({}, 'ended');
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
    await start({ resources, signal: controller.signal, log });
  } catch (error) {
    log.fatal({ err: error }, 'start failed');
    await end('start failed', 1);
  }
};
