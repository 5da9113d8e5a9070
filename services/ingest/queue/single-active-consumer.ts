import { pause } from '#platform/clock.ts';
import { watchReconnects } from '#platform/nats/connection.ts';
import { openOwnership } from '#platform/postgres/leader-lock.ts';
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
 * observations in order; others stand by. A lost lock stops the consumer before the lock is asked for again. So does a
 * connection to NATS that was lost: acknowledgements went with it, and would be waited for a minute, where a consumer
 * made anew is given the same observations at once and in order.
 */
export const consumeWhileOwner = async (
  options: ConsumerOptions & { readonly databaseUrl: string; readonly signal: AbortSignal },
): Promise<void> => {
  const { log, signal, nats } = options;
  const reconnects = watchReconnects(nats.connection);
  while (!signal.aborted) {
    try {
      await using resources = new AsyncDisposableStack();
      const ownership = resources.use(await openOwnership(options.databaseUrl));
      while (!signal.aborted && !ownership.lost.aborted && !(await ownership.acquire(NAME))) {
        await pause(STANDBY_MS, signal);
      }
      if (signal.aborted || ownership.lost.aborted) continue;
      const reconnected = reconnects.next();
      resources.use(await consumeObservations(options));
      log.info({ lanes: options.lanes }, 'taking in observations');
      await Promise.race([untilAborted(signal, ownership.lost), reconnected]);
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ reason: (error as Error).message }, 'taking in was interrupted; starting again');
      await pause(STANDBY_MS, signal);
    }
  }
};
