import { pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import { watchReconnects } from '#platform/nats/connection.ts';
import { runAsLeader } from '#platform/process/run-as-leader.ts';
import { proveOfLate } from '../intake/prove-of-late.ts';
import type { Leading, Retention } from '../intake-types.ts';
import { type ConsumerOptions, consumeObservations } from './consumer.ts';

/** Kind of the lease. */
const ROLE = 'ingest';
/** Milliseconds between two deletions of expired rows, whose retention is counted in days. */
const RETENTION_INTERVAL_MS = 3_600_000;

/** Deletes expired rows at once and at intervals until the signal is aborted. After an error it goes on at the next interval. */
const deleteAtIntervals = async (
  retention: Retention,
  intervalMs: number,
  log: Log,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    try {
      await retention.deleteExpired(signal);
    } catch (error) {
      log.warn({ err: error }, 'expired rows left until the next interval');
    }
    await pause(intervalMs, signal);
  }
};

/**
 * Consumes observations while this process is the leader; other processes are standbys. A single active consumer keeps
 * each brand's observations in order. Leadership is a lease: when it is lost, the consumer stops before this process
 * requests it again. A process that was stopped meanwhile, or lost Postgres, appends nothing and leaves the consumer of the
 * new leader alone, because it proves the lease first.
 *
 * The leader also deletes expired rows of the working tables, at its start and once an hour, while observations are processed.
 *
 * The consumer is also recreated when it or its stream was deleted, and after a reconnect to NATS. Acknowledgements may be lost with the connection, and NATS
 * redelivers unacknowledged messages only after a minute. A new consumer receives the same observations at once, in
 * order.
 */
export const consumeAsLeader = (
  options: ConsumerOptions & {
    readonly intake: Retention & Leading;
    readonly databaseUrl: string;
    readonly signal: AbortSignal;
    readonly retentionIntervalMs?: number;
  },
): Promise<void> => {
  const { databaseUrl, log, signal, nats, intake, retentionIntervalMs = RETENTION_INTERVAL_MS } = options;
  const reconnects = watchReconnects(nats.connection);
  return runAsLeader({
    databaseUrl,
    kind: ROLE,
    log,
    signal,
    run: async (leading, lease, proveLead) => {
      intake.leadWith(lease);
      await using resources = new AsyncDisposableStack();
      const stopping = new AbortController();
      const reconnectedOrEnded = reconnects.next({ signal: AbortSignal.any([leading, stopping.signal]) });
      const deleting = deleteAtIntervals(
        intake,
        retentionIntervalMs,
        log,
        AbortSignal.any([leading, stopping.signal]),
      );
      resources.defer(async () => {
        stopping.abort();
        await deleting;
      });
      const consumer = resources.use(
        await consumeObservations({ ...options, prove: () => proveOfLate(proveLead) }),
      );
      log.info({ concurrency: options.concurrency }, 'ingest consumer started');
      await Promise.race([reconnectedOrEnded, consumer.ended]);
    },
  });
};
