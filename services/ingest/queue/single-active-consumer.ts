import { pause } from '#platform/clock.ts';
import { watchReconnects } from '#platform/nats/connection.ts';
import { openOwnership } from '#platform/postgres/leader-lock.ts';
import { type ConsumerOptions, consumeObservations } from './consumer.ts';

/** Milliseconds between attempts of a standby to take the leader lock, and the delay after a failure. */
const STANDBY_MS = 1_000;
const NAME = 'ingest';

const untilAborted = (...signals: readonly AbortSignal[]): Promise<void> =>
  new Promise((resolve) => {
    const any = AbortSignal.any([...signals]);
    if (any.aborted) resolve();
    else any.addEventListener('abort', () => resolve(), { once: true });
  });

/**
 * Consumes observations while this process is the leader; other processes are standbys. A single active consumer keeps
 * each brand's observations in order. Leadership is a Postgres advisory lock: when it is lost, the consumer stops
 * before this process requests the lock again.
 *
 * The consumer is also recreated after a reconnect to NATS. Acknowledgements may be lost with the connection, and NATS
 * redelivers unacknowledged messages only after a minute. A new consumer receives the same observations at once, in
 * order.
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
      log.info({ lanes: options.lanes }, 'ingest consumer started');
      await Promise.race([untilAborted(signal, ownership.lost), reconnected]);
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ reason: (error as Error).message }, 'ingest consumer failed; restarting');
      await pause(STANDBY_MS, signal);
    }
  }
};
