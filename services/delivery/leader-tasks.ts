import { DELIVERIES_STREAM, DELIVERY_CONSUMER, DUE_IDS_MAX } from '#contracts/messages/subjects.ts';
import { type Clock, pause } from '#platform/clock.ts';
import { dueDeliveries } from '#application/delivery-outbox/due.ts';
import { notifyDue } from '#application/delivery-outbox/notify-due.ts';
import { publishNextEvents } from '#application/delivery-outbox/journal/publish-events.ts';
import { deleteFinishedDeliveries } from '#application/delivery-outbox/retention.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { runAsLeader } from '#platform/process/run-as-leader.ts';
import { proveLease } from '#platform/postgres/lease/prove-lease.ts';
import { type Database, withProof } from '#platform/postgres/pool.ts';
import { ensureDeliveryConsumer } from './jetstream-consumer.ts';
import { suspendFailingEndpoints } from './suspend-failing-endpoints.ts';

/** Kind of the lease. */
const ROLE = 'delivery';
/** Polling interval of the journal, for entries that are not yet published as events. */
const RECORD_EVERY_MS = 200;
/** Polling interval of Postgres for due deliveries: retries, and ids that the queue lost. */
const SWEEP_EVERY_MS = 1_000;
/**
 * Maximum deliveries published by one sweep. A sweep is skipped while the queue holds as many messages as one sweep
 * makes.
 */
const SWEPT_MAX = 1_000;
const WAITING_MESSAGES_MAX = SWEPT_MAX / DUE_IDS_MAX;
const GIVE_UP_EVERY_MS = 30_000;
const TRIM_EVERY_MS = 600_000;

export type LeaderTaskDependencies = {
  readonly pool: Database;
  readonly databaseUrl: string;
  readonly eventStore: EventStore;
  readonly nats: Nats;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Endpoints for which this process holds more deliveries than it can send now. */
  readonly overflowed: () => readonly string[];
};

/**
 * Publishes deliveries that are due and unclaimed. This also refills a queue that lost its messages. Returns how
 * many were published.
 */
export const sweep = async ({ pool, nats, clock, overflowed }: LeaderTaskDependencies): Promise<number> => {
  const { num_pending } = await nats.manager.consumers.info(DELIVERIES_STREAM, DELIVERY_CONSUMER);
  if (num_pending >= WAITING_MESSAGES_MAX) return 0;
  const due = await dueDeliveries(pool, clock.now(), SWEPT_MAX, overflowed());
  await notifyDue(nats, due);
  return due.length;
};

const sweepOrMend = async (dependencies: LeaderTaskDependencies): Promise<number> => {
  try {
    return await sweep(dependencies);
  } catch (error) {
    // The NATS server may have restarted without its storage, and so without the consumer.
    await ensureDeliveryConsumer(dependencies.nats).catch(() => undefined);
    throw error;
  }
};

/**
 * Repeats `work` until aborted. Runs again at once when it returns true, otherwise after `everyMs`. Logs errors and
 * retries.
 */
const repeat = async (
  { log }: LeaderTaskDependencies,
  signal: AbortSignal,
  what: string,
  everyMs: number,
  work: () => Promise<boolean>,
): Promise<void> => {
  while (!signal.aborted) {
    let isMore = false;
    try {
      isMore = await work();
    } catch (error) {
      if (!signal.aborted)
        log.warn({ reason: (error as Error).message, what }, 'leader task failed; retrying');
    }
    if (!isMore) await pause(everyMs, signal);
  }
};

const keep = (dependencies: LeaderTaskDependencies, signal: AbortSignal): Promise<unknown> => {
  const { pool, eventStore, nats, clock, log } = dependencies;
  return Promise.all([
    repeat(dependencies, signal, 'publish events', RECORD_EVERY_MS, async () => {
      const { isMore, refused } = await publishNextEvents(pool, eventStore);
      for (const { entry, reason } of refused)
        log.error({ delivery_id: entry.delivery_id, type: entry.type, reason }, 'delivery event set aside');
      return isMore;
    }),
    repeat(dependencies, signal, 'sweep due deliveries', SWEEP_EVERY_MS, async () => {
      await sweepOrMend(dependencies);
      return false;
    }),
    repeat(dependencies, signal, 'suspend failing endpoints', GIVE_UP_EVERY_MS, async () => {
      await notifyDue(nats, await suspendFailingEndpoints(dependencies));
      return false;
    }),
    repeat(
      dependencies,
      signal,
      'apply retention',
      TRIM_EVERY_MS,
      async () => (await deleteFinishedDeliveries(pool, clock.now())) > 0,
    ),
  ]);
};

/**
 * Leader-only tasks: publish events, sweep due deliveries, suspend failing endpoints, apply retention. Other
 * processes are standbys. Each transaction proves the lease; appends have an expected revision and derived ids.
 */
export const runLeaderTasks = (dependencies: LeaderTaskDependencies): Promise<void> => {
  const { databaseUrl, log, signal } = dependencies;
  return runAsLeader({
    databaseUrl,
    kind: ROLE,
    log,
    signal,
    run: async (leading, lease) => {
      const pool = withProof(dependencies.pool, (client) => proveLease(client, lease));
      await keep({ ...dependencies, pool }, leading);
    },
  });
};
