import { watchReconnects } from '#platform/nats/connection.ts';
import { runAsLeader } from '#platform/process/run-as-leader.ts';
import { type ConsumerOptions, consumeObservations } from './consumer.ts';

/** Name of the leader lock. */
const ROLE = 'ingest';

/**
 * Consumes observations while this process is the leader; other processes are standbys. A single active consumer keeps
 * each brand's observations in order. Leadership is a Postgres advisory lock: when it is lost, the consumer stops
 * before this process requests the lock again.
 *
 * The consumer is also recreated after a reconnect to NATS. Acknowledgements may be lost with the connection, and NATS
 * redelivers unacknowledged messages only after a minute. A new consumer receives the same observations at once, in
 * order.
 */
export const consumeAsLeader = (
  options: ConsumerOptions & { readonly databaseUrl: string; readonly signal: AbortSignal },
): Promise<void> => {
  const { databaseUrl, log, signal, nats } = options;
  const reconnects = watchReconnects(nats.connection);
  return runAsLeader({
    databaseUrl,
    name: ROLE,
    log,
    signal,
    run: async (leading) => {
      const reconnectedOrEnded = reconnects.next({ signal: leading });
      await using resources = new AsyncDisposableStack();
      resources.use(await consumeObservations(options));
      log.info({ concurrency: options.concurrency }, 'ingest consumer started');
      await reconnectedOrEnded;
    },
  });
};
