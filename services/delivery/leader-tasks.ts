import { DELIVERIES_STREAM, DELIVERY_CONSUMER, DUE_IDS_MAX } from '#contracts/messages/subjects.ts';
import { type Clock, pause } from '#platform/clock.ts';
import { dueDeliveries } from '#application/delivery-outbox/due.ts';
import { publishDue } from '#application/delivery-outbox/notify-due.ts';
import { ENTRIES_PER_BATCH, recordEvents } from '#application/delivery-outbox/journal/publish-events.ts';
import { trimFinished } from '#application/delivery-outbox/retention.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { openOwnership } from '#platform/postgres/leader-lock.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { ensureDeliveryConsumer } from './jetstream-consumer.ts';
import { giveUpEndpoints } from './suspend-failing-endpoints.ts';

const OWNER = 'delivery';
const STANDBY_MS = 1_000;
/** How often the journal is looked at for entries that are no events yet. */
const RECORD_EVERY_MS = 200;
/** How often Postgres is looked at for what is due: retries, and whatever the queue lost. */
const SWEEP_EVERY_MS = 1_000;
/** Published by one sweep; while as many messages wait in the queue as that makes, there is nothing to add. */
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
  /** Endpoints that this process has more of than it can send now. */
  readonly overflowed: () => readonly string[];
};

/** Publishes what is due and nobody's. A queue that came back empty is filled again by this. */
export const sweep = async ({ pool, nats, clock, overflowed }: LeaderTaskDependencies): Promise<number> => {
  const { num_pending } = await nats.manager.consumers.info(DELIVERIES_STREAM, DELIVERY_CONSUMER);
  if (num_pending >= WAITING_MESSAGES_MAX) return 0;
  const due = await dueDeliveries(pool, clock.now(), SWEPT_MAX, overflowed());
  await publishDue(nats, due);
  return due.length;
};

const sweepOrMend = async (dependencies: LeaderTaskDependencies): Promise<number> => {
  try {
    return await sweep(dependencies);
  } catch (error) {
    // The server may have come back without its storage.
    await ensureDeliveryConsumer(dependencies.nats).catch(() => undefined);
    throw error;
  }
};

/** Does something over and over until aborted; a fault is told and waited out. At once again when there is more. */
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
      if (!signal.aborted) log.warn({ reason: (error as Error).message, what }, 'will be tried again');
    }
    if (!isMore) await pause(everyMs, signal);
  }
};

const keep = (dependencies: LeaderTaskDependencies, signal: AbortSignal): Promise<unknown> => {
  const { pool, eventStore, nats, clock } = dependencies;
  return Promise.all([
    repeat(
      dependencies,
      signal,
      'recording events',
      RECORD_EVERY_MS,
      async () => (await recordEvents(pool, eventStore)) >= ENTRIES_PER_BATCH,
    ),
    repeat(dependencies, signal, 'publishing what is due', SWEEP_EVERY_MS, async () => {
      await sweepOrMend(dependencies);
      return false;
    }),
    repeat(dependencies, signal, 'giving up endpoints', GIVE_UP_EVERY_MS, async () => {
      await publishDue(nats, await giveUpEndpoints(dependencies));
      return false;
    }),
    repeat(
      dependencies,
      signal,
      'trimming',
      TRIM_EVERY_MS,
      async () => (await trimFinished(pool, clock.now())) > 0,
    ),
  ]);
};

/** What one process does for all: events, sweeps, suspensions, trimming. Others stand by for it. */
export const keepDeliveries = async (dependencies: LeaderTaskDependencies): Promise<void> => {
  const { log, signal } = dependencies;
  while (!signal.aborted) {
    try {
      await using ownership = await openOwnership(dependencies.databaseUrl);
      const either = AbortSignal.any([signal, ownership.lost]);
      while (!either.aborted && !(await ownership.acquire(OWNER))) await pause(STANDBY_MS, either);
      if (either.aborted) continue;
      log.info({}, 'keeping deliveries');
      await keep(dependencies, either);
    } catch (error) {
      if (!signal.aborted) log.warn({ reason: (error as Error).message }, 'keeping was interrupted');
      await pause(STANDBY_MS, signal);
    }
  }
};
