import { pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import { watchReconnects } from '#platform/nats/connection.ts';
import { runAsLeader } from '#platform/process/run-as-leader.ts';
import { proveOfLate } from '../intake/prove-of-late.ts';
import type { Leading, Retention } from '../intake-types.ts';
import { type ConsumerOptions, consumeObservations } from './consumer.ts';

const ROLE = 'ingest';
/** Retention is counted in days. */
const RETENTION_INTERVAL_MS = 3_600_000;

/** Deletes at once, then at intervals until aborted, also after an error. */
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
