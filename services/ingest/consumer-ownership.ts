import { pause } from '#platform/clock.ts';
import { openOwnership } from '#platform/ownership.ts';
import { type ConsumerOptions, consumeObservations } from './consumer.ts';

/** How often a standby asks whether the owner is gone, and how long it waits after a fault. */
const STANDBY_MS = 1_000;
const NAME = 'ingest';

const untilAborted = (...signals: readonly AbortSignal[]): Promise<void> =>
  new Promise((resolve) => {
    const any = AbortSignal.any([...signals]);
    if (any.aborted) resolve();
    else any.addEventListener('abort', () => resolve(), { once: true });
  });

/**
 * Consumes observations while this process holds the lock, so that one process at a time keeps each brand's
 * observations in order; others stand by. A lost lock stops the consumer before the lock is asked for again.
 */
export const consumeWhileOwner = async (
  options: ConsumerOptions & { readonly databaseUrl: string; readonly signal: AbortSignal },
): Promise<void> => {
  const { log, signal } = options;
  while (!signal.aborted) {
    try {
      await using resources = new AsyncDisposableStack();
      const ownership = resources.use(await openOwnership(options.databaseUrl));
      while (!signal.aborted && !ownership.lost.aborted && !(await ownership.acquire(NAME))) {
        await pause(STANDBY_MS, signal);
      }
      if (signal.aborted || ownership.lost.aborted) continue;
      resources.use(await consumeObservations(options));
      log.info({ lanes: options.lanes }, 'taking in observations');
      await untilAborted(signal, ownership.lost);
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ reason: (error as Error).message }, 'taking in was interrupted; starting again');
      await pause(STANDBY_MS, signal);
    }
  }
};
